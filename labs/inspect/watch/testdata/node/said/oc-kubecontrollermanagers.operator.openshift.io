{"items":[{"metadata":{"name":"cluster"},"status":{"latestAvailableRevision":5,"nodeStatuses":[{"nodeName":"master-0","currentRevision":5},{"nodeName":"master-1","currentRevision":5}]}}]}

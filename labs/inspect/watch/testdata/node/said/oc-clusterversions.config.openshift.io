{"items":[{"metadata":{"name":"version"},"status":{"history":[{"state":"Partial","version":"4.21.0-okd-scos.8","completionTime":null}]}}]}

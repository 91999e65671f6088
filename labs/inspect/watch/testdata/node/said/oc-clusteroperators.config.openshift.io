{"items":[
 {"metadata":{"name":"etcd"},"status":{"conditions":[{"type":"Available","status":"True"},{"type":"Progressing","status":"True"},{"type":"Degraded","status":"False"}]}},
 {"metadata":{"name":"dns"},"status":{"conditions":[{"type":"Available","status":"True"},{"type":"Progressing","status":"False"},{"type":"Degraded","status":"False"}]}},
 {"metadata":{"name":"network"},"status":{"conditions":[{"type":"Available","status":"False","reason":"Startup"},{"type":"Progressing","status":"True"},{"type":"Degraded","status":"True","reason":"RolloutHung"}]}},
 {"metadata":{"name":"ingress"},"status":{"conditions":[{"type":"Available","status":"False","reason":"IngressUnavailable"},{"type":"Progressing","status":"True"},{"type":"Degraded","status":"False"}]}},
 {"metadata":{"name":"console"},"status":{}}]}

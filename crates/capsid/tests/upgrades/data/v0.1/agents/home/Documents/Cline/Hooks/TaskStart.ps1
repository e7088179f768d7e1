# Added by capsid: seal each task
# Added by capsid: recall what is proven
$payload = [Console]::In.ReadToEnd()
$payload | & '/tmp/capsid-fixtures/bin/capsid' 'recall' '--hook' 'cline'
$payload | & '/tmp/capsid-fixtures/bin/capsid' 'trail' 'hook' 'cline' | Out-Null

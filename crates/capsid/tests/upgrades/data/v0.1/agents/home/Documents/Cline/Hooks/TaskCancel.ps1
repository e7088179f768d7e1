# Added by capsid: seal each task
& '/tmp/capsid-fixtures/bin/capsid' 'trail' 'hook' 'cline'

const net = require('node:net');
const { connect } = require('./client.js');
const worker = net.createServer();
setTimeout(() => worker.listen(4817, '127.0.0.1'), 200).unref();
connect(4817).then(() => {
  worker.close();
  console.log('ok');
});

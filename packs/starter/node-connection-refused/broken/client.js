const net = require('node:net');
// Connects to the worker, which was started a moment ago.
const connect = (port) => new Promise((resolve, reject) => {
  const socket = net.connect(port, '127.0.0.1', () => resolve(socket.end()));
  socket.on('error', reject);
});
exports.connect = connect;

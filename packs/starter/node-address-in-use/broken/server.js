const http = require('node:http');
// Starts the server of the tests.
exports.start = () => new Promise((resolve, reject) => {
  const server = http.createServer((request, response) => response.end('ok'));
  server.on('error', reject);
  server.listen(48080, '127.0.0.1', () => resolve(server));
});

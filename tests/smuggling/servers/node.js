// What Node's parser saw: one line a request, each part in hexadecimal; what it refused is a line
// with its error's code.
const fs = require('fs');
const http = require('http');
const [port, file] = process.argv.slice(2);
const hex = (text) => Buffer.from(text || '', 'latin1').toString('hex');
const note = (...parts) => fs.appendFileSync(file, parts.join('\t') + '\n');

const server = http.createServer({maxHeaderSize: 65536}, (request, response) => {
  const pieces = [];
  request.on('data', (piece) => pieces.push(piece));
  request.on('end', () => {
    note(200, hex(request.method), hex(request.url), hex(request.headers['x-tenant-id']),
         hex(request.headers['idempotency-key']), Buffer.concat(pieces).toString('hex'));
    response.writeHead(200, {'X-Seen': 'node'});
    response.end('seen');
  });
});
server.on('clientError', (error, socket) => {
  if (error.code === 'ECONNRESET') return socket.destroy();
  note(400, hex(error.code));
  socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
});
server.keepAliveTimeout = 60000;
server.requestTimeout = 60000;
server.listen(Number(port), '127.0.0.1');

#!/usr/bin/env node
// Starts the program of the package for this machine, with the same arguments, and ends as it does.
'use strict';
const { spawn } = require('node:child_process');

const name = `capsid-cli-${process.platform}-${process.arch}`;
let program;
try {
	program = require.resolve(`${name}/bin/capsid`);
} catch {
	console.error(
		`error[unsupported_system]: There is no program for ${process.platform} on ${process.arch} here: the package \`${name}\` is not installed.\n` +
			'  fix: Install without `--omit=optional`. On Windows use WSL; elsewhere build from the sources with `make install`.'
	);
	process.exit(1);
}
const child = spawn(program, process.argv.slice(2), { stdio: 'inherit' });
// Ctrl-C reaches the program by itself: this one only waits for its end.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
	process.on(signal, () => signal !== 'SIGINT' && child.kill(signal));
}
child.on('error', (error) => {
	console.error(`error[io_failed]: \`${program}\` cannot be started: ${error.message}.`);
	process.exit(1);
});
child.on('exit', (code, signal) => {
	if (signal) {
		process.removeAllListeners(signal);
		process.kill(process.pid, signal);
	} else process.exit(code);
});

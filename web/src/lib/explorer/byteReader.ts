/** How much of a file is read at once. */
const PIECE_SIZE = 256 << 10;

/**
 * The pieces of a stream, each valid until the next is asked for. Where the browser can, one buffer is filled again and
 * again: those of an ordinary reader are freed so late that they add up to the size of the file.
 */
export async function* readPieces(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
	const reader = openByob(stream);
	if (!reader) return yield* readWhole(stream.getReader());
	let buffer = new ArrayBuffer(PIECE_SIZE);
	try {
		for (;;) {
			const { done, value } = await reader.read(new Uint8Array(buffer));
			if (done || !value) return;
			yield value;
			buffer = value.buffer;
		}
	} finally {
		await reader.cancel().catch(() => undefined);
	}
}

function openByob(stream: ReadableStream<Uint8Array>): ReadableStreamBYOBReader | null {
	try {
		return stream.getReader({ mode: 'byob' });
	} catch {
		return null;
	}
}

async function* readWhole(reader: ReadableStreamDefaultReader<Uint8Array>): AsyncGenerator<Uint8Array> {
	try {
		for (;;) {
			const { done, value } = await reader.read();
			if (done) return;
			for (let at = 0; at < value.length; at += PIECE_SIZE) yield value.subarray(at, at + PIECE_SIZE);
		}
	} finally {
		await reader.cancel().catch(() => undefined);
	}
}

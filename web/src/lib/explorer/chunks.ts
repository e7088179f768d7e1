import { readPieces } from './byteReader';
import { RecordScanner } from './recordScanner';

/** Whole records in one buffer, with commas between them. */
export interface RecordChunk {
	buffer: ArrayBuffer;
	length: number;
	/** Where each record is in the file. */
	offsets: number[];
	/** How much of the file was read when it was cut. */
	read: number;
}

/** Buffers that came back from the workers. */
export class BufferStore {
	private readonly free: ArrayBuffer[] = [];

	constructor(readonly size: number) {}

	take(): ArrayBuffer {
		return this.free.pop() ?? new ArrayBuffer(this.size);
	}

	/** One that was made larger for a long record is not kept. */
	giveBack(buffer: ArrayBuffer): void {
		if (buffer.byteLength === this.size) this.free.push(buffer);
	}
}

/** All records in one buffer. */
export function fillChunk(
	records: Iterable<{ bytes: Uint8Array; offset: number }>,
	buffers: BufferStore
): RecordChunk {
	let buffer = buffers.take();
	const offsets: number[] = [];
	let length = 0;
	for (const { bytes, offset } of records) {
		if (length + bytes.length + 1 > buffer.byteLength) {
			const larger = new Uint8Array(2 * (length + bytes.length + 1));
			larger.set(new Uint8Array(buffer, 0, length));
			buffer = larger.buffer;
		}
		const target = new Uint8Array(buffer);
		target.set(bytes, length);
		target[length + bytes.length] = 0x2c;
		length += bytes.length + 1;
		offsets.push(offset);
	}
	return { buffer, length, offsets, read: length };
}

/** Cuts a chain file at the ends of records. Throws `Unreadable` behind the last record that can be read. */
export async function* cutChunks(
	stream: ReadableStream<Uint8Array>,
	buffers: BufferStore,
	scanner = new RecordScanner()
): AsyncGenerator<RecordChunk> {
	let buffer = buffers.take();
	let [length, read, wasFirst] = [0, 0, true];
	let offsets: number[] = [];
	const cut = (): RecordChunk => {
		const chunk = { buffer, length, offsets, read };
		[buffer, length, offsets, wasFirst] = [buffers.take(), 0, [], false];
		return chunk;
	};
	function* takeRecords(): Generator<RecordChunk> {
		for (let record = scanner.next(); record; record = scanner.next()) {
			const { bytes, offset } = record;
			// The first rows are wanted at once, so the first chunk is a small one.
			const limit = wasFirst ? buffers.size / 8 : buffers.size;
			if (length > 0 && length + bytes.length + 1 > limit) yield cut();
			if (bytes.length + 1 > buffer.byteLength) buffer = new ArrayBuffer(bytes.length + 1);
			const target = new Uint8Array(buffer);
			target.set(bytes, length);
			target[length + bytes.length] = 0x2c;
			length += bytes.length + 1;
			offsets.push(offset);
		}
	}
	try {
		for await (const piece of readPieces(stream)) {
			read += piece.length;
			scanner.feed(piece);
			yield* takeRecords();
		}
		scanner.finish();
		yield* takeRecords();
	} catch (problem) {
		if (length > 0) yield cut();
		throw problem;
	}
	if (length > 0) yield cut();
}

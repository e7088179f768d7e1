import type { BundleSource } from './types';
import { readPieces } from './byteReader';
import { EngineError } from './engineError';

/** The files of a bundle, wherever they lie. */
export interface BundleFiles {
	/** The bytes of a file as they come; null where there is none. */
	open(name: string): Promise<ReadableStream<Uint8Array> | null>;
	/** A part of a file, read again. */
	slice(name: string, offset: number, length: number): Promise<Uint8Array>;
	/** Whether a file is there, where that is known without asking for it. */
	has(name: string): boolean | null;
	/** How long a file is, where that can be told without reading it. */
	size(name: string): Promise<number | null>;
	/** All names, where they are known. */
	names(): string[] | null;
	/** Takes all names from somebody who knows them. */
	know(names: string[]): void;
}

export function openFiles(source: BundleSource, stop: AbortSignal): BundleFiles {
	const blobs = new Map<string, Blob>();
	switch (source.kind) {
		case 'local':
			return filesFromUrl(source.base, stop, { authorization: `Bearer ${source.key}` });
		case 'url':
			return filesFromUrl(source.base, stop, {});
		case 'folder':
			return filesFromBlobs(Object.keys(source.files), (name) => getOwnMember(source.files, name));
		case 'page':
			return filesFromBlobs(Object.keys(source.files), (name) => {
				const text = getOwnMember(source.files, name);
				if (text !== undefined && !blobs.has(name)) blobs.set(name, new Blob([text]));
				return blobs.get(name);
			});
	}
}

/** A name such as `constructor` is no file. */
function getOwnMember<T>(files: Record<string, T>, name: string): T | undefined {
	return Object.hasOwn(files, name) ? files[name] : undefined;
}

function filesFromBlobs(names: string[], find: (name: string) => Blob | undefined): BundleFiles {
	return {
		names: () => names,
		know: () => undefined,
		open: (name) => Promise.resolve(find(name)?.stream() ?? null),
		has: (name) => find(name) !== undefined,
		size: (name) => Promise.resolve(find(name)?.size ?? null),
		async slice(name, offset, length) {
			const part = find(name)?.slice(offset, offset + length);
			return part ? new Uint8Array(await part.arrayBuffer()) : new Uint8Array(0);
		}
	};
}

function filesFromUrl(base: string, stop: AbortSignal, headers: Record<string, string>): BundleFiles {
	let known: string[] | null = null;
	const folder = base.endsWith('/') ? base : `${base}/`;
	const request = async (name: string, more: Record<string, string>): Promise<Response | null> => {
		const address = folder + encodeURIComponent(name);
		const init = { headers: { ...headers, ...more }, signal: stop, cache: 'no-cache' } as const;
		const answer = await fetch(address, init).catch(() => {
			throw new EngineError('unreachable', `${name} cannot be reached.`);
		});
		if (answer.status === 404) return null;
		if (!answer.ok || !answer.body)
			throw new EngineError(
				[401, 403].includes(answer.status) ? 'key_refused' : 'unreachable',
				`${name} was refused with status ${answer.status}.`
			);
		return answer;
	};
	return {
		has: (name) => known && known.includes(name),
		names: () => known,
		know: (names) => void (known = names),
		open: async (name) => (await request(name, {}))?.body ?? null,
		async size(name) {
			const answer = await request(name, { range: 'bytes=0-0' });
			await answer?.body?.cancel();
			const total = /\/(\d+)$/.exec(answer?.headers.get('content-range') ?? '')?.[1];
			return answer?.status === 206 && total !== undefined ? Number(total) : null;
		},
		async slice(name, offset, length) {
			const answer = await request(name, { range: `bytes=${offset}-${offset + length - 1}` });
			if (answer?.status === 206) return new Uint8Array(await answer.arrayBuffer());
			return answer?.body ? readPart(answer.body, offset, length) : new Uint8Array(0);
		}
	};
}

/** A part of a stream, for a server that sends whole files only. */
async function readPart(
	stream: ReadableStream<Uint8Array>,
	offset: number,
	length: number
): Promise<Uint8Array> {
	const part = new Uint8Array(length);
	let read = 0;
	for await (const piece of readPieces(stream)) {
		const from = Math.max(0, offset - read);
		const taken = piece.subarray(from, Math.max(from, offset + length - read));
		if (taken.length > 0) part.set(taken, read + from - offset);
		read += piece.length;
		if (read >= offset + length) break;
	}
	return part;
}

/** The whole text of a file; null where there is none. */
export async function readText(files: BundleFiles, name: string): Promise<string | null> {
	const stream = await files.open(name);
	if (!stream) return null;
	// A mark at the beginning is left to whoever reads the text: of two marks one would be lost here.
	const bytes = await new Response(stream).arrayBuffer();
	return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}

/** Files of chains that the index does not list, where all files are known. */
export async function findUnlisted(files: BundleFiles, ids: string[]): Promise<string[]> {
	const listed = new Set(['index.json', 'meta.json', 'heads.json', ...ids.map((id) => `${id}.json`)]);
	const others = (files.names() ?? []).filter((name) => name.endsWith('.json') && !name.includes('/'));
	const unlisted: string[] = [];
	for (const name of others.filter((name) => !listed.has(name)).sort()) {
		const start = new TextDecoder().decode(await files.slice(name, 0, START_LENGTH));
		if (start.includes('"capsules"')) unlisted.push(name);
	}
	return unlisted;
}

/** A chain file names its records this early. */
const START_LENGTH = 64 << 10;

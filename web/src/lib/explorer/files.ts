import type { BundleSource } from './types';
import { EngineError } from './engineError';

/** The files of a bundle, wherever they lie. */
export interface BundleFiles {
	/** The bytes of a file as they come; null where there is none. */
	open(name: string): Promise<ReadableStream<Uint8Array> | null>;
	/** Whether a file is there, where that is known without asking for it. */
	has(name: string): boolean | null;
}

export function openFiles(source: BundleSource, stop: AbortSignal): BundleFiles {
	switch (source.kind) {
		case 'local':
			return filesFromUrl(source.base, stop, { authorization: `Bearer ${source.key}` });
		case 'url':
			return filesFromUrl(source.base, stop, {});
		case 'folder':
			return filesFromBlobs((name) => getOwnMember(source.files, name));
		case 'page':
			return filesFromBlobs((name) => {
				const text = getOwnMember(source.files, name);
				return text === undefined ? undefined : new Blob([text]);
			});
	}
}

/** A name such as `constructor` is no file. */
function getOwnMember<T>(files: Record<string, T>, name: string): T | undefined {
	return Object.hasOwn(files, name) ? files[name] : undefined;
}

function filesFromBlobs(find: (name: string) => Blob | undefined): BundleFiles {
	return {
		open: (name) => Promise.resolve(find(name)?.stream() ?? null),
		has: (name) => find(name) !== undefined
	};
}

function filesFromUrl(base: string, stop: AbortSignal, headers: Record<string, string>): BundleFiles {
	const folder = base.endsWith('/') ? base : `${base}/`;
	return {
		has: () => null,
		async open(name) {
			const address = folder + encodeURIComponent(name);
			const answer = await fetch(address, { headers, signal: stop, cache: 'no-cache' }).catch(() => {
				throw new EngineError('unreachable', `${name} cannot be reached.`);
			});
			if (answer.status === 404) return null;
			if (!answer.ok || !answer.body)
				throw new EngineError(
					[401, 403].includes(answer.status) ? 'key_refused' : 'unreachable',
					`${name} was refused with status ${answer.status}.`
				);
			return answer.body;
		}
	};
}

/** The whole text of a file; null where there is none. */
export async function readText(files: BundleFiles, name: string): Promise<string | null> {
	const stream = await files.open(name);
	if (!stream) return null;
	// A mark at the beginning is left to whoever reads the text: of two marks one would be lost here.
	const bytes = await new Response(stream).arrayBuffer();
	return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}

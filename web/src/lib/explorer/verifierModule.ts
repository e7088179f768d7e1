import address from '../../../module/verdict.wasm?url';

/** The module, which is a file of the pages, or inside the script of a page on disk. */
export async function compileVerifier(): Promise<WebAssembly.Module> {
	if (address.startsWith('data:')) return WebAssembly.compile(decodeBase64(address));
	const response = await fetch(address);
	if (!response.ok) throw new Error(`The verifier was refused with status ${response.status}.`);
	return WebAssembly.compile(await response.arrayBuffer());
}

function decodeBase64(address: string): Uint8Array<ArrayBuffer> {
	const text = atob(address.slice(address.indexOf(',') + 1));
	return Uint8Array.from(text, (letter) => letter.charCodeAt(0));
}

import { unhex } from './hex';

const SIGNATURE_BYTES = 3309;
const PUBLIC_BYTES = 1952;

/** Whether an ML-DSA-65 signature covers the text of a hash. */
export type PqCheck = (hash: string, signature: string) => boolean;

/** The check of one key. Its code is large and few records need it, so it is loaded when it is asked for. */
export async function pqCheck(key: Uint8Array): Promise<PqCheck | null> {
	if (key.length !== PUBLIC_BYTES) return null;
	const { ml_dsa65 } = await import('@noble/post-quantum/ml-dsa.js');
	const encoder = new TextEncoder();
	return (hash, signature) => {
		const bytes = unhex(signature, SIGNATURE_BYTES);
		try {
			return bytes !== null && ml_dsa65.verify(bytes, encoder.encode(hash), key);
		} catch {
			return false;
		}
	};
}

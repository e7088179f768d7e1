import { canonical, canonicalAscii } from './canonical';
import { sha3 } from './hash';
import { parseUnambiguous, type Fields, type Json } from './json';

/** The five fields that are no part of what is hashed. */
export interface Seal {
	hash: string;
	signature: string;
	signaturePq: string;
	signedAt: string | null;
	signedBy: string;
}

/** One stored record: the exact text that was hashed, and the seal beside it. */
export interface Stored {
	canonical: string;
	seal: Seal;
}

/**
 * A sealed record as one object: its content with the seal among it, or a bundle's form with the hashed text as it is.
 * What is neither comes back as a record without a seal, which does not verify.
 */
export function fromSealed(text: string): Stored {
	const fields = object(text);
	if (!fields) return { canonical: text, seal: seal(new Map()) };
	const taken = seal(fields);
	const stored = fields.get('canonical');
	const isBundled = !fields.has('id') && typeof stored === 'string';
	return { canonical: isBundled ? stored : hashedText(fields, taken.hash), seal: taken };
}

function object(text: string): Fields | null {
	try {
		const value = parseUnambiguous(text);
		return value instanceof Map ? value : null;
	} catch {
		return null;
	}
}

/** Takes the seal out of the fields. */
function seal(fields: Fields): Seal {
	const take = (name: string): string | null => {
		const value: Json | undefined = fields.get(name);
		fields.delete(name);
		return typeof value === 'string' ? value : null;
	};
	return {
		hash: take('hash') ?? '',
		signature: take('signature') ?? '',
		signaturePq: take('signature_pq') ?? '',
		signedAt: take('signed_at'),
		signedBy: take('signed_by') ?? ''
	};
}

/** The earliest records were hashed with all but ASCII escaped. */
function hashedText(fields: Fields, hash: string): string {
	const text = canonical(fields);
	if (/^[\u0000-\u007f]*$/.test(text) || sha3(text) === hash) return text;
	const escaped = canonicalAscii(fields);
	return sha3(escaped) === hash ? escaped : text;
}

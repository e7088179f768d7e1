import { Point } from '@noble/ed25519';
import { hex, unhex } from './hex';

/** Where a key came from; the more it says about the signer, the later. */
export const ORIGINS = ['bundled', 'own', 'pinned'] as const;
export type Origin = (typeof ORIGINS)[number];

/** A public key that a private key can have. */
export interface PublicKey {
	readonly hex: string;
	readonly bytes: Uint8Array;
	readonly point: Point;
}

export interface TrustedKey {
	readonly key: PublicKey;
	readonly origin: Origin;
}

/** Reads 64 hex digits, in either case; null where they are no key that a signer makes. */
export function publicKey(text: string): PublicKey | null {
	const bytes = unhex(
		text.replace(/[A-F]/g, (letter) => letter.toLowerCase()),
		32
	);
	if (!bytes) return null;
	try {
		const point = Point.fromBytes(bytes, false);
		// No signer makes such keys, and verifiers disagree about them.
		if (point.isSmallOrder() || !point.isTorsionFree()) return null;
		return point.toHex() === hex(bytes) ? { hex: hex(bytes), bytes, point } : null;
	} catch {
		return null;
	}
}

/** The first 16 digits: the name a record gives its signer by. */
export function fingerprint(key: PublicKey): string {
	return key.hex.slice(0, 16);
}

/** All the keys a verifier may use. */
export class KeySet {
	private readonly keys = new Map<string, TrustedKey>();
	private readonly own = new Set<string>();
	private sorted: TrustedKey[] | null = null;
	/** The post-quantum key that goes with this machine's own keys. */
	pq: Uint8Array | null = null;

	/** Adds a key. One that is there already keeps the origin that says more. */
	add(key: PublicKey, origin: Origin): void {
		const before = this.keys.get(key.hex)?.origin ?? origin;
		const more = ORIGINS.indexOf(before) > ORIGINS.indexOf(origin) ? before : origin;
		this.keys.set(key.hex, { key, origin: more });
		if (origin === 'own') this.own.add(key.hex);
		this.sorted = null;
	}

	/** Every key that `signed_by` can mean: 16 digits or more of the key, or the short name, which several may share. */
	candidates(signedBy: string): TrustedKey[] {
		const digits = named(signedBy);
		return digits === null ? [] : this.all().filter(({ key }) => key.hex.startsWith(digits));
	}

	/** All keys, in the order of their digits. */
	all(): TrustedKey[] {
		this.sorted ??= [...this.keys.values()].sort((a, b) => (a.key.hex < b.key.hex ? -1 : 1));
		return this.sorted;
	}

	/** Whether a key is this machine's own, whatever else is known of it. */
	isOwn(key: PublicKey): boolean {
		return this.own.has(key.hex);
	}
}

const SHORT_PREFIX = 'qp_key_';

function named(signedBy: string): string | null {
	if (!signedBy.startsWith(SHORT_PREFIX)) return signedBy.length >= 16 ? signedBy : null;
	const short = signedBy.slice(SHORT_PREFIX.length);
	return short.length === 4 ? short : null;
}

import { fingerprint, type Origin } from './keys';
import { NO_RECORD, isFault, type FaultClass, type RecordFault, type Signed } from './record';

/** What was found out about a record. */
export interface Checked {
	/** The position that the text claims; null where it is no record. */
	sequence: number | null;
	/** Whether its link is the hash of the record before it, and null at the first. */
	isLinked: boolean;
	/** What is wrong with the text or its hash. */
	content: RecordFault | null;
	/** Who signed; null when signatures are not checked yet. */
	signed: Signed | RecordFault | null;
	hash: string;
	signedBy: string;
}

export interface Signer {
	count: number;
	/** Where the key came from; null for a name that no key goes by. */
	origin: Origin | null;
}

/** What verification came to. */
export interface ChainVerdict {
	valid: boolean;
	/** How many records were good, up to the first bad one. */
	verified: number;
	total: number;
	brokenAt: number | null;
	failure: { code: FaultClass; message: string } | null;
	/** The hash of the last good record. */
	head: string | null;
	/** Who signed the good records, by fingerprint, and the unknown signer at the break. */
	signers: Map<string, Signer>;
	notes: string[];
}

const GENESIS_HAS_PREVIOUS = 'genesis has previous_hash';

/** Takes checked records in their order and comes to a verdict. */
export class Chain {
	private verified = 0;
	private total = 0;
	private failure: RecordFault | null = null;
	private head: string | null = null;
	private pqUnchecked = 0;
	private readonly signers = new Map<string, Signer>();
	private readonly notes: string[] = [];

	push(record: Checked): void {
		this.total++;
		if (this.failure) {
			this.lookForTheMissing(record);
			return;
		}
		this.failure = this.judge(record);
		if (!this.failure) this.accept(record);
	}

	private judge(record: Checked): RecordFault | null {
		const wrong = record.content ?? this.judgePlace(record);
		if (wrong) return wrong;
		if (!record.signed || !isFault(record.signed)) return null;
		if (record.signed.code === 'unknown_signer') this.count(record.signedBy, null);
		return record.signed;
	}

	private judgePlace(record: Checked): RecordFault | null {
		if (record.sequence === null) return NO_RECORD;
		if (record.sequence > this.verified) return { code: 'missing', what: 'sequence gap' };
		if (record.sequence < this.verified) return { code: 'link', what: 'sequence gap' };
		if (record.isLinked) return null;
		return { code: 'link', what: this.verified === 0 ? GENESIS_HAS_PREVIOUS : 'link broken' };
	}

	private accept(record: Checked): void {
		if (record.signed && !isFault(record.signed)) {
			this.count(fingerprint(record.signed.by.key), record.signed.by.origin);
			if (record.signed.pqUnchecked) this.pqUnchecked++;
		}
		this.verified++;
		this.head = record.hash;
	}

	private count(name: string, origin: Origin | null): void {
		const count = (this.signers.get(name)?.count ?? 0) + 1;
		this.signers.set(name, { count, origin });
	}

	/** A record that is there after all, at another place, was moved and not removed. */
	private lookForTheMissing(record: Checked): void {
		if (this.failure?.code !== 'missing' || record.sequence !== this.verified) return;
		this.failure = record.content ?? { ...this.failure, code: 'link' };
		this.notes.push(`Record ${this.verified} is there, but not at its place.`);
	}

	verdict(): ChainVerdict {
		const notes = [...this.notes];
		if (this.pqUnchecked > 0) {
			notes.push(`${this.pqUnchecked} post-quantum signatures were not checked: there is no key for them.`);
		}
		const { failure, verified, total, head, signers } = this;
		return {
			valid: failure === null,
			verified,
			total,
			brokenAt: failure && verified,
			failure: failure && { code: failure.code, message: message(failure, verified) },
			head,
			signers,
			notes
		};
	}
}

/** The words of `agent-capsule` where it has any. */
function message({ what }: RecordFault, at: number): string {
	return what === GENESIS_HAS_PREVIOUS ? what : `${what} at ${at}`;
}

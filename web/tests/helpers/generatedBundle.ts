import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { hex } from '$lib/seal/hex';

/** A key for tests in the usual wrapping: what it is, then 32 bytes. */
const PRIVATE_KEY = `302e020100300506032b657004220420${'03'.repeat(32)}`;

/** Two records that did not end well: one failed, and of one nobody knows. */
export const FAILED = 7;
export const PENDING = 11;

/** For tests: an honest bundle with one chain of so many records, each of about 700 characters and so many more. */
export function generatedBundle(records: number, more = 0): Record<string, string> {
	const padding = 'x'.repeat(more);
	const secret = createPrivateKey({ key: Buffer.from(PRIVATE_KEY, 'hex'), format: 'der', type: 'pkcs8' });
	const key = hex(createPublicKey(secret).export({ format: 'der', type: 'spki' }).subarray(-32));
	const seals: string[] = [];
	let previous: string | null = null;
	let first: string | null = null;
	for (let sequence = 0; sequence < records; sequence++) {
		const canonical = content(sequence, previous, padding);
		const hash = createHash('sha3-256').update(canonical).digest('hex');
		const signature = hex(sign(null, Buffer.from(hash), secret));
		seals.push(
			JSON.stringify({
				hash,
				signature,
				signature_pq: '',
				signed_at: moment(sequence),
				signed_by: key.slice(0, 16),
				canonical
			})
		);
		previous = hash;
		first ??= hash;
	}
	const summary = {
		id: 'codex-big',
		tool: 'codex',
		title: 'A long one',
		length: records,
		head_hash: previous,
		genesis_hash: first,
		all_hashes_ok: true,
		signed_by: [key.slice(0, 16)],
		started_at: moment(0),
		ended_at: moment(records - 1)
	};
	const head = JSON.stringify(summary).slice(0, -1);
	return {
		'index.json': JSON.stringify({ public_key: key, keys: { [key.slice(0, 16)]: key }, chains: [summary] }),
		'codex-big.json': `${head}, "capsules": [${seals.join(', ')}]}`
	};
}

function moment(sequence: number): string {
	return new Date(Date.UTC(2026, 0, 1) + sequence * 1000).toISOString();
}

function content(sequence: number, previous: string | null, padding: string): string {
	const id = `00000000-0000-4000-8000-${String(sequence).padStart(12, '0')}`;
	const tool = sequence % 3 === 0 ? 'shell' : 'apply_patch';
	const status = sequence === FAILED ? 'failure' : sequence === PENDING ? 'pending' : 'success';
	return (
		'{"authority":{"policy_reference":"","type":"autonomous"},' +
		`"context":{"agent_id":"codex","environment":{"timestamp":"${moment(sequence)}"},"session_id":"big"},` +
		'"domain":"codex","execution":{"duration_ms":0,"resources_used":{"input_tokens":10,"output_tokens":2},' +
		`"tool_calls":[{"arguments":{"command":"make step-${sequence}"},"duration_ms":12,"error":null,` +
		`"result":"${'all good so far '.repeat(8)}${padding}","success":true,"tool":"${tool}"}]},"id":"${id}",` +
		`"outcome":{"side_effects":[],"status":"${status}","summary":"${tool}: make step-${sequence}"},` +
		`"parent_id":null,"previous_hash":${previous === null ? 'null' : `"${previous}"`},` +
		`"reasoning":{"analysis":"","model":"","reasoning":""},"sequence":${sequence},"spec_version":"1.0",` +
		`"trigger":{"request":"please build number ${Math.floor(sequence / 50)}","source":"big","type":"user_request"},` +
		`"type":"${sequence % 5 === 0 ? 'chat' : 'tool'}"}`
	);
}

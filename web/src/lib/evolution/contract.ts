/** What `GET /local/evolution.json` says of a repository. */
export interface Evolution {
	repository: string;
	events: EvolutionEvent[];
	genes: { id: string; category: string; summary: string; runs: number; successes: number }[];
	capsules: { id: string; gene: string; summary: string; streak: number; confidence: number }[];
	/** Lines of the store that could not be read. */
	unreadable: number;
}

export interface EvolutionEvent {
	id: string;
	parent: string | null;
	at: string;
	intent: string;
	signals: string[];
	genes: string[];
	capsule: string | null;
	status: 'success' | 'failed' | 'skipped' | 'other';
	score: number | null;
	files: number;
	lines: number;
	/** Where the solution came from: generated, reused, reference. */
	source: string;
	/** Why this gene was chosen and not another, in sentences, as `capsid explain` tells them. */
	reasons: string[];
	alternatives: { id: string; score: number | null }[];
	seal: { isSealed: boolean; hash: string | null };
}

/** What `GET /local/evolution.json` says of a repository. Every text of an event or an asset comes from strangers. */
export interface Evolution {
	repository: string;
	/** Whether `capsid init` was run here. */
	has_store: boolean;
	/** Over the whole log, also where `events` holds only its newest part. */
	totals: { cycles: number; successes: number; streak: number };
	/** The newest events, oldest first. */
	events: Cycle[];
	/** Those that were used most come first. */
	genes: GeneStats[];
	capsules: CapsuleStats[];
	capsules_total: number;
	/** Lines of the log that could not be read. */
	unreadable: number;
	seal: LogSeal;
}

export type CycleStatus = 'success' | 'failed' | 'skipped' | 'other';

export interface Cycle {
	id: string;
	parent: string | null;
	at: string | null;
	intent: string;
	signals: string[];
	genes: string[];
	capsule: string | null;
	status: CycleStatus;
	score: number;
	files: number;
	lines: number;
	size: 'none' | 'small' | 'medium' | 'large';
	/** Some of the changed files. */
	paths: string[];
	/** Where the solution came from: generated, reused, reference; empty where the event does not say. */
	source: string;
	failure: { class: string; reason: string } | null;
	validation: {
		state: 'passed' | 'failed' | 'nothing_ran' | 'not_recorded';
		commands: { command: string; ok: boolean }[];
		isolation: string;
	};
	mutation: { id: string; category: string; risk: string; effect: string } | null;
	/** The engine's dials, from 0 to 1. */
	personality: [string, number][];
	/** Why this was chosen and not another; null where that was not recorded. */
	why: SelectionReasons | null;
	/** Whether its line is the one that was sealed. Unproven: it stands at or after the first change. */
	seal: 'sealed' | 'unsealed' | 'unproven';
}

export interface SelectionReasons {
	/** For `capsid explain`. */
	run: string;
	selected: string | null;
	/** As they were recorded. */
	reasons: string[];
	/** What was weighed, best first. */
	candidates: SelectionCandidate[];
	/** Whether the recorded inputs give the recorded choice; null where they are no longer kept. */
	follows: boolean | null;
}

export interface SelectionCandidate {
	id: string;
	kind: 'gene' | 'capsule';
	score: number | null;
	parts: string[];
	banned: boolean;
}

export interface GeneStats {
	id: string;
	category: string;
	summary: string;
	runs: number;
	successes: number;
	streak: number;
	mean_files: number;
	mean_lines: number;
}

export interface CapsuleStats {
	id: string;
	gene: string;
	summary: string;
	streak: number;
	confidence: number;
}

export interface LogSeal {
	state: 'sealed' | 'unsealed' | 'broken' | 'unknown';
	intact: number;
	unsealed: number;
	/** The line of the first change, and what was done there. */
	line: number | null;
	change: string | null;
}

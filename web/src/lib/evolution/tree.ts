import type { Cycle } from './types';

/**
 * The event tree as rows, newest first. The longest branch goes straight on and the others are set off from it, so that
 * the tree is narrow however long the history is: each column to the right at least halves what can still follow.
 */
export interface EventRow {
	kind: 'event';
	/** The place in the list of events. */
	position: number;
	event: Cycle;
	/** Where its dot stands. */
	column: number;
	/** Columns whose line passes by. */
	through: number[];
	/** Whether a line leads on to a newer event in the same column. */
	hasNewer: boolean;
	/** Where its parent's column is; null: it begins a tree. */
	parentColumn: number | null;
	/** Whether the parent itself is not shown, and the line leads to an event before it. */
	isFar: boolean;
}

/** Events in a straight line that are folded into one row. */
export interface FoldRow {
	kind: 'fold';
	/** The place of the newest of them: the name of the fold. */
	position: number;
	count: number;
	failed: number;
	column: number;
	through: number[];
}

export type TreeRow = EventRow | FoldRow;

/** What is folded, is at least this long; this many stay to be seen at either end. */
const MIN_FOLD_LEN = 12;
const VISIBLE_ENDS = 3;

interface ParentLinks {
	parents: (number | null)[];
	isFar: boolean[];
	children: number[][];
}

/** Links the shown events, oldest first, to their parents, or to the nearest event before them that is shown. */
function linkParents(events: Cycle[], isShown: (event: Cycle) => boolean): ParentLinks {
	const positions = new Map<string, number>();
	const isVisible = events.map(isShown);
	// The parent of each, or what stands for it where it is not shown. A parent comes before its child: no circles.
	const parents: (number | null)[] = [];
	const isFar: boolean[] = [];
	const children: number[][] = events.map(() => []);
	events.forEach((event, position) => {
		const parentPosition = event.parent === null ? undefined : positions.get(event.parent);
		const parent =
			parentPosition === undefined
				? null
				: isVisible[parentPosition]
					? parentPosition
					: parents[parentPosition]!;
		parents.push(parent);
		isFar.push(parent !== null && parent !== parentPosition);
		if (isVisible[position] && parent !== null) children[parent]!.push(position);
		if (!positions.has(event.id)) positions.set(event.id, position);
	});
	return { parents, isFar, children };
}

function computeSizes(children: number[][]): number[] {
	const size = children.map(() => 1);
	for (let position = size.length - 1; position >= 0; position--) {
		for (const child of children[position]!) size[position]! += size[child]!;
	}
	return size;
}

/** All rows of the tree, nothing folded. */
export function buildTreeRows(events: Cycle[], isShown: (event: Cycle) => boolean = () => true): EventRow[] {
	const { parents, isFar, children } = linkParents(events, isShown);
	const size = computeSizes(children);
	const treeRows: EventRow[] = [];
	const roots = events.flatMap((event, position) =>
		isShown(event) && parents[position] === null ? [position] : []
	);
	// What is still to be drawn, the next on top.
	const open: { position: number; column: number; parentColumn: number | null; through: number[] }[] = [];
	for (const root of roots.reverse())
		open.push({ position: root, column: 0, parentColumn: null, through: [] });
	for (let next = open.pop(); next; next = open.pop()) {
		const { position, column, through } = next;
		const childPositions = children[position]!;
		treeRows.push({
			kind: 'event',
			event: events[position]!,
			...next,
			hasNewer: childPositions.length > 0,
			isFar: isFar[position]!
		});
		const trunk = childPositions.reduce(
			(best, child) => (size[child]! >= size[best]! ? child : best),
			childPositions[0] ?? 0
		);
		if (childPositions.length > 0) open.push({ position: trunk, column, parentColumn: column, through });
		for (const child of childPositions.filter((child) => child !== trunk).reverse()) {
			open.push({ position: child, column: column + 1, parentColumn: column, through: [...through, column] });
		}
	}
	return treeRows.reverse();
}

/** Folds long straight lines, except those that were opened and the one with the chosen event. */
export function foldRows(all: EventRow[], opened: ReadonlySet<number>, chosen: number | null): TreeRow[] {
	const treeRows: TreeRow[] = [];
	for (let start = 0; start < all.length; ) {
		const end = findLineEnd(all, start);
		const inner = all.slice(start + VISIBLE_ENDS, end - VISIBLE_ENDS);
		const newest = inner[0];
		const isFolded =
			newest &&
			end - start >= MIN_FOLD_LEN &&
			!opened.has(newest.position) &&
			!inner.some((row) => row.position === chosen);
		if (isFolded) {
			const failed = inner.filter(({ event }) => event.status === 'failed').length;
			const { position, column, through } = newest;
			treeRows.push(...all.slice(start, start + VISIBLE_ENDS));
			treeRows.push({ kind: 'fold', position, count: inner.length, failed, column, through });
			treeRows.push(...all.slice(end - VISIBLE_ENDS, end));
		} else {
			treeRows.push(...all.slice(start, end));
		}
		start = end;
	}
	return treeRows;
}

/** One after the last row of the straight line that begins here: each is the only child of the next. */
function findLineEnd(all: EventRow[], start: number): number {
	let end = start + 1;
	while (end < all.length && isStraight(all[end - 1]!, all[end]!)) end += 1;
	return end;
}

function isStraight(newer: EventRow, older: EventRow): boolean {
	return newer.parentColumn === newer.column && older.column === newer.column && !newer.isFar;
}

/** How many columns the rows need. */
export function countColumns(all: TreeRow[]): number {
	return all.reduce((most, { column }) => Math.max(most, column + 1), 1);
}

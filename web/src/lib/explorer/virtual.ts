/**
 * Which rows of a long list are in the document. A browser cannot scroll over more than some millions of pixels, so a
 * list that is longer is drawn at a smaller scale: the bar moves faster than the rows do.
 */
export interface ListFrame {
	count: number;
	rowHeight: number;
	/** How high the box is, and how far it is scrolled. */
	height: number;
	scrollTop: number;
}

export interface VisibleRange {
	first: number;
	/** One after the last. */
	end: number;
	/** Where the first row stands, from the top of the canvas. */
	top: number;
	/** How high the canvas is. */
	canvas: number;
}

export const MAX_CANVAS_HEIGHT = 8_000_000;
const OVERSCAN = 6;
const MAX_ROWS = 120;

export function computeVisibleRange(frame: ListFrame): VisibleRange {
	const { count, rowHeight, height } = frame;
	const offset = getOffset(frame);
	const first = clamp(Math.floor(offset / rowHeight) - OVERSCAN, 0, Math.max(0, count - 1));
	const rows = Math.min(MAX_ROWS, Math.ceil(height / rowHeight) + 2 * OVERSCAN);
	const end = Math.min(count, first + rows);
	return {
		first,
		end,
		top: clampScroll(frame) - offset + first * rowHeight,
		canvas: getCanvasHeight(count, rowHeight)
	};
}

/** Where to scroll so that a row is seen whole; the place where the box is if it is seen already. */
export function computeRevealScroll(index: number, frame: ListFrame): number {
	const { rowHeight, height } = frame;
	const offset = getOffset(frame);
	const above = index * rowHeight;
	if (above < offset) return toScrollTop(above, frame);
	const below = above + rowHeight - height;
	return below > offset ? toScrollTop(below, frame) : clampScroll(frame);
}

/** Where the keys lead from a row. Null: not a key of a list. */
export function getTargetIndex(key: string, from: number, count: number, page: number): number | null {
	const last = count - 1;
	if (last < 0) return null;
	const to = { ArrowDown: from + 1, ArrowUp: from - 1, PageDown: from + page, PageUp: from - page }[key];
	if (key === 'Home') return 0;
	if (key === 'End') return last;
	return to === undefined ? null : clamp(from < 0 ? 0 : to, 0, last);
}

function getCanvasHeight(count: number, rowHeight: number): number {
	return Math.min(MAX_CANVAS_HEIGHT, count * rowHeight);
}

function clampScroll({ count, rowHeight, height, scrollTop }: ListFrame): number {
	return clamp(scrollTop, 0, Math.max(0, getCanvasHeight(count, rowHeight) - height));
}

/** How many pixels of all rows lie above the box. */
function getOffset(frame: ListFrame): number {
	return clampScroll(frame) * getScale(frame);
}

function toScrollTop(offset: number, frame: ListFrame): number {
	return offset / getScale(frame);
}

function getScale({ count, rowHeight, height }: ListFrame): number {
	const canvas = getCanvasHeight(count, rowHeight);
	return canvas <= height ? 1 : (count * rowHeight - height) / (canvas - height);
}

function clamp(value: number, least: number, most: number): number {
	return Math.min(most, Math.max(least, value));
}

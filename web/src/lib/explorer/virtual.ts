/**
 * Which rows of a long list are in the document. A browser cannot scroll over more than some millions of pixels, so a
 * list that is longer is drawn at a smaller scale: the bar moves faster than the rows do.
 */
export interface Frame {
	count: number;
	rowHeight: number;
	/** How high the box is, and how far it is scrolled. */
	height: number;
	scrollTop: number;
}

export interface Shown {
	first: number;
	/** One after the last. */
	end: number;
	/** Where the first row stands, from the top of the canvas. */
	top: number;
	/** How high the canvas is. */
	canvas: number;
}

export const HIGHEST = 8_000_000;
const MORE = 6;
const MOST = 120;

export function shown(frame: Frame): Shown {
	const { count, rowHeight, height } = frame;
	const offset = offsetOf(frame);
	const first = clamp(Math.floor(offset / rowHeight) - MORE, 0, Math.max(0, count - 1));
	const rows = Math.min(MOST, Math.ceil(height / rowHeight) + 2 * MORE);
	const end = Math.min(count, first + rows);
	return {
		first,
		end,
		top: scrolled(frame) - offset + first * rowHeight,
		canvas: canvasOf(count, rowHeight)
	};
}

/** Where to scroll so that a row is seen whole; the place where the box is if it is seen already. */
export function reveal(index: number, frame: Frame): number {
	const { rowHeight, height } = frame;
	const offset = offsetOf(frame);
	const above = index * rowHeight;
	if (above < offset) return toScroll(above, frame);
	const below = above + rowHeight - height;
	return below > offset ? toScroll(below, frame) : scrolled(frame);
}

/** Where the keys lead from a row. Null: not a key of a list. */
export function moved(key: string, from: number, count: number, page: number): number | null {
	const last = count - 1;
	if (last < 0) return null;
	const to = { ArrowDown: from + 1, ArrowUp: from - 1, PageDown: from + page, PageUp: from - page }[key];
	if (key === 'Home') return 0;
	if (key === 'End') return last;
	return to === undefined ? null : clamp(from < 0 ? 0 : to, 0, last);
}

function canvasOf(count: number, rowHeight: number): number {
	return Math.min(HIGHEST, count * rowHeight);
}

function scrolled({ count, rowHeight, height, scrollTop }: Frame): number {
	return clamp(scrollTop, 0, Math.max(0, canvasOf(count, rowHeight) - height));
}

/** How many pixels of all rows lie above the box. */
function offsetOf(frame: Frame): number {
	return scrolled(frame) * scaleOf(frame);
}

function toScroll(offset: number, frame: Frame): number {
	return offset / scaleOf(frame);
}

function scaleOf({ count, rowHeight, height }: Frame): number {
	const canvas = canvasOf(count, rowHeight);
	return canvas <= height ? 1 : (count * rowHeight - height) / (canvas - height);
}

function clamp(value: number, least: number, most: number): number {
	return Math.min(most, Math.max(least, value));
}

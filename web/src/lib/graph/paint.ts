import { truncateToWidth } from '$lib/ui/truncateToWidth';

/** A thing as it is painted, in pixels. */
export interface Dot {
	x: number;
	y: number;
	size: number;
	form: Path2D;
	colour: string;
	/** Nobody but people and nodes tells of it. */
	isHollow: boolean;
	isFaint: boolean;
	isChosen: boolean;
	isHit: boolean;
	label: string;
	more: number;
	/** Labels of a lower rank get their room first; 0 is always labelled. */
	rank: number;
}

export interface Palette {
	ground: string;
	text: string;
	muted: string;
	accent: string;
	font: string;
}

interface Box {
	left: number;
	top: number;
	right: number;
	bottom: number;
}

const HEIGHT = 15;
const FAINT = 0.28;

/**
 * Paints forms first and then as many labels as have room, so that none stands on another. What is faint gives way to
 * the labels of what is not.
 */
export function paint(context: CanvasRenderingContext2D, dots: Dot[], room: Box, palette: Palette): void {
	for (const dot of dots) paintForm(context, dot, palette);
	context.globalAlpha = 1;
	const taken: Box[] = [];
	for (const isFaint of [false, true]) {
		const some = dots.filter((dot) => dot.isFaint === isFaint).sort((a, b) => a.rank - b.rank);
		taken.push(...some.map(boxOf));
		for (const dot of some) paintLabel(context, dot, taken, room, palette);
	}
	context.globalAlpha = 1;
}

function paintForm(context: CanvasRenderingContext2D, dot: Dot, { ground, accent }: Palette): void {
	context.save();
	context.globalAlpha = dot.isFaint ? FAINT : 1;
	context.translate(dot.x, dot.y);
	if (dot.isChosen || dot.isHit) {
		context.beginPath();
		context.arc(0, 0, ringOf(dot), 0, 7);
		context.lineWidth = dot.isChosen ? 3 : 1.5;
		context.strokeStyle = accent;
		context.stroke();
	}
	context.scale(dot.size, dot.size);
	context.lineJoin = 'round';
	context.lineWidth = 4 / dot.size;
	context.strokeStyle = ground;
	context.stroke(dot.form);
	context.fillStyle = dot.isHollow ? ground : dot.colour;
	context.fill(dot.form);
	if (dot.isHollow) {
		context.lineWidth = 2 / dot.size;
		context.strokeStyle = dot.colour;
		context.stroke(dot.form);
	}
	context.restore();
}

function paintLabel(
	context: CanvasRenderingContext2D,
	dot: Dot,
	taken: Box[],
	room: Box,
	palette: Palette
): void {
	const isNeeded = dot.rank === 0;
	const weight = isNeeded || dot.isHit ? '600 ' : '';
	context.font = `${weight}12px ${palette.font}`;
	const width = (text: string) => context.measureText(text).width;
	const text = shortened(dot.label, isNeeded ? 260 : 150, weight, width);
	const more = dot.more ? ` +${dot.more}` : '';
	const whole = width(text) + (more ? width(more) : 0);
	const places = placesFor(dot, whole, room);
	const over = places.map((place) => taken.filter((other) => isOver(place, other)).length);
	const least = Math.min(...over);
	if (least > 0 && !isNeeded) return;
	const at = places[over.indexOf(least)]!;
	taken.push(at);
	context.globalAlpha = dot.isFaint ? 0.45 : 1;
	context.lineJoin = 'round';
	context.lineWidth = 4;
	context.strokeStyle = palette.ground;
	const put = (words: string, left: number, colour: string) => {
		context.strokeText(words, left, at.bottom - 4);
		context.fillStyle = colour;
		context.fillText(words, left, at.bottom - 4);
	};
	put(text, at.left, palette.text);
	if (more) put(more, at.left + width(text), palette.muted);
}

/** Cutting a text means measuring it many times, and a picture is painted many times a second. */
const cut = new Map<string, string>();

function shortened(label: string, room: number, weight: string, width: (text: string) => number): string {
	const key = `${room} ${weight} ${label}`;
	const known = cut.get(key) ?? truncateToWidth(label, room, width);
	if (cut.size > 2000) cut.clear();
	cut.set(key, known);
	return known;
}

/** How far the ring around a hit, or around what is chosen, is from its middle. */
function ringOf({ size, isChosen }: Dot): number {
	return size * 1.25 + (isChosen ? 5 : 3);
}

function reachOf(dot: Dot): number {
	return dot.isChosen || dot.isHit ? ringOf(dot) : dot.size * 1.2;
}

function boxOf(dot: Dot): Box {
	const { x, y } = dot;
	const far = reachOf(dot);
	return { left: x - far, top: y - far, right: x + far, bottom: y + far };
}

function isOver(one: Box, other: Box): boolean {
	return one.left < other.right && one.right > other.left && one.top < other.bottom && one.bottom > other.top;
}

/** Below, above, right, left; never outside. */
function placesFor(dot: Dot, width: number, room: Box): Box[] {
	const { x, y } = dot;
	const gap = reachOf(dot) + 2;
	const tops = { below: y + gap, above: y - gap - HEIGHT, beside: y - HEIGHT / 2 };
	const places: [number, number][] = [
		[x - width / 2, tops.below],
		[x - width / 2, tops.above],
		[x + gap, tops.beside],
		[x - gap - width, tops.beside]
	];
	return places.map(([wantedLeft, wantedTop]) => {
		const left = Math.max(room.left + 4, Math.min(room.right - width - 4, wantedLeft));
		const top = Math.max(room.top + 2, Math.min(room.bottom - HEIGHT - 2, wantedTop));
		return { left, top, right: left + width, bottom: top + HEIGHT };
	});
}

import type { RowIndex } from './rowIndex';
import type { UseSpan } from './types';

const MAX_SPANS = 120;

/** What was done over time, in at most 120 spans of equal length. */
export function summarizeUse(index: RowIndex): UseSpan[] {
	if (index.count === 0) return [];
	let [first, last] = [Infinity, -Infinity];
	for (let at = 0; at < index.count; at++) {
		const time = index.getTime(at);
		if (time <= 0) continue;
		first = Math.min(first, time);
		last = Math.max(last, time);
	}
	if (first > last) return [];
	const width = Math.max(1, Math.ceil((last - first + 1) / MAX_SPANS));
	const spans = new Map<number, UseSpan>();
	for (let at = 0; at < index.count; at++) {
		const { time, duration, input, output } = index.getUse(at);
		if (time <= 0) continue;
		const start = first + Math.floor((time - first) / width) * width;
		const span = spans.get(start) ?? {
			time: start,
			records: 0,
			duration: 0,
			inputTokens: 0,
			outputTokens: 0
		};
		span.records++;
		span.duration += duration;
		span.inputTokens += input;
		span.outputTokens += output;
		spans.set(start, span);
	}
	return [...spans.values()].sort((one, other) => one.time - other.time);
}

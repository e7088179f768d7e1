/**
 * As much of Markdown as a hub's guide uses, as data. Whoever draws it makes elements of it and never markup, so nothing
 * in the text can become more than text.
 */
export type Inline = { kind: 'text' | 'code' | 'strong'; text: string };

export type MarkdownBlock =
	| { kind: 'heading'; level: number; text: string; id: string }
	| { kind: 'paragraph'; inlines: Inline[] }
	| { kind: 'code'; text: string }
	| { kind: 'list'; isOrdered: boolean; items: Inline[][] }
	| { kind: 'table'; head: Inline[][]; rows: Inline[][][] };

const FENCE = /^\s*```/;
const HEADING = /^(#{1,6})\s+(.*?)\s*#*$/;
const ITEM = /^\s*(?:[-*+]|(\d+)[.)])\s+(.*)$/;
const RULE = /^\s*\|?\s*:?-{2,}/;

export function parseMarkdown(markdown: string): MarkdownBlock[] {
	const lines = markdown.replaceAll('\r\n', '\n').split('\n');
	const blocks: MarkdownBlock[] = [];
	const ids = new Map<string, number>();
	let at = 0;
	// A list may follow a sentence at once; within a list, items stay together.
	const begins = (line: string, before: string) => ITEM.test(line) && !ITEM.test(before);
	const isPlain = (line: string) => line.trim() !== '' && !FENCE.test(line) && !HEADING.test(line);
	while (at < lines.length) {
		const line = lines[at]!;
		const heading = HEADING.exec(line);
		if (line.trim() === '') at += 1;
		else if (FENCE.test(line)) {
			const close = lines.findIndex((other, index) => index > at && FENCE.test(other));
			const end = close < 0 ? lines.length : close;
			blocks.push({ kind: 'code', text: lines.slice(at + 1, end).join('\n') });
			at = end + 1;
		} else if (heading) {
			const text = heading[2]!.replaceAll('`', '');
			blocks.push({ kind: 'heading', level: heading[1]!.length, text, id: createAnchor(text, ids) });
			at += 1;
		} else {
			let end = at + 1;
			while (end < lines.length && isPlain(lines[end]!) && !begins(lines[end]!, line)) end += 1;
			blocks.push(parseGroup(lines.slice(at, end)));
			at = end;
		}
	}
	return blocks;
}

function parseGroup(lines: string[]): MarkdownBlock {
	if (lines[0]!.trim().startsWith('|') && RULE.test(lines[1] ?? '')) {
		return { kind: 'table', head: parseCells(lines[0]!), rows: lines.slice(2).map(parseCells) };
	}
	const first = ITEM.exec(lines[0]!);
	if (!first) return { kind: 'paragraph', inlines: parseInlines(lines.map((line) => line.trim()).join(' ')) };
	const items: string[] = [];
	for (const line of lines) {
		const item = ITEM.exec(line);
		if (item) items.push(item[2]!);
		else items.push(`${items.pop() ?? ''} ${line.trim()}`);
	}
	return { kind: 'list', isOrdered: first[1] !== undefined, items: items.map(parseInlines) };
}

function parseCells(line: string): Inline[][] {
	const inner = line.trim().replace(/^\|/, '').replace(/\|$/, '');
	return inner.split(/(?<!\\)\|/).map((cell) => parseInlines(cell.trim().replaceAll('\\|', '|')));
}

/** Code and strong words. A link keeps its text and its address, both as text. */
export function parseInlines(text: string): Inline[] {
	const plain = text.replaceAll(/\[([^\]]+)\]\(([^)\s]+)\)/g, '$1 ($2)');
	const parts = plain.split(/(`[^`]+`|\*\*[^*]+\*\*)/).filter(Boolean);
	return parts.map((part) => {
		if (/^`[^`]+`$/.test(part)) return { kind: 'code', text: part.slice(1, -1) };
		return /^\*\*[^*]+\*\*$/.test(part)
			? { kind: 'strong', text: part.slice(2, -2) }
			: { kind: 'text', text: part };
	});
}

function createAnchor(text: string, ids: Map<string, number>): string {
	const plain =
		text
			.toLowerCase()
			.replaceAll(/[^a-z0-9]+/g, '-')
			.replaceAll(/^-|-$/g, '') || 'part';
	const count = (ids.get(plain) ?? 0) + 1;
	ids.set(plain, count);
	return count === 1 ? plain : `${plain}-${count}`;
}

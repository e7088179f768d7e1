/** JSON with lines and indents, every number and text exactly as it was written. */
export function formatJson(json: string): string {
	const tokens = json.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/gs) ?? [];
	let text = '';
	let depth = 0;
	const line = () => `\n${'  '.repeat(depth)}`;
	tokens.forEach((token, index) => {
		const isEmpty = /[{[]/.test(token) && /[}\]]/.test(tokens[index + 1] ?? '');
		const wasEmpty = /[}\]]/.test(token) && token.length === 1 && /^[{[]$/.test(tokens[index - 1] ?? '');
		if (token === '{' || token === '[') {
			depth += 1;
			text += isEmpty && tokens[index + 1]!.length === 1 ? token : token + line();
		} else if (token === '}' || token === ']') {
			depth -= 1;
			text += wasEmpty ? token : line() + token;
		} else if (token === ',') text += token + line();
		else text += token === ':' ? ': ' : token;
	});
	return text;
}

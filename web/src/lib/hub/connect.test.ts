import { expect, test } from 'vitest';
import { listConnectSteps, formatHubVariables } from './connect';

test('plain http to another machine takes one more variable', () => {
	expect(formatHubVariables('http://127.0.0.1:4000')).toBe('export A2A_HUB_URL=http://127.0.0.1:4000');
	expect(formatHubVariables('https://hub.example.org')).toBe('export A2A_HUB_URL=https://hub.example.org');
	expect(formatHubVariables('http://hub.lan:4000').split('\n')).toHaveLength(2);
});

test('the steps begin with the address of this hub', () => {
	const steps = listConnectSteps('https://hub.example.org');
	expect(steps[0]!.command).toContain('https://hub.example.org');
	expect(steps.map(({ command }) => command)).toContain('capsid node hello');
});

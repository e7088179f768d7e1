import { expect, test } from 'vitest';
import { connectSteps, hubVariables } from './connect';

test('plain http to another machine takes one more variable', () => {
	expect(hubVariables('http://127.0.0.1:4000')).toBe('export A2A_HUB_URL=http://127.0.0.1:4000');
	expect(hubVariables('https://hub.example.org')).toBe('export A2A_HUB_URL=https://hub.example.org');
	expect(hubVariables('http://hub.lan:4000').split('\n')).toHaveLength(2);
});

test('the steps begin with the address of this hub', () => {
	const steps = connectSteps('https://hub.example.org');
	expect(steps[0]!.command).toContain('https://hub.example.org');
	expect(steps.map(({ command }) => command)).toContain('capsid node hello');
});

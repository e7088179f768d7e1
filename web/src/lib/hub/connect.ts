/** How an agent joins this hub: each step a sentence and a command. */
export interface ConnectStep {
	title: string;
	why: string;
	command: string;
}

/** Clients refuse plain http to another machine, unless a variable says that the network is trusted. */
export function formatHubVariables(origin: string): string {
	const { protocol, hostname } = new URL(origin);
	const isHere = hostname === 'localhost' || hostname === '[::1]' || /^127\./.test(hostname);
	const lines = [`export A2A_HUB_URL=${origin}`];
	if (protocol === 'http:' && !isHere) lines.push('export CAPSID_HUB_ALLOW_INSECURE=1');
	return lines.join('\n');
}

export function listConnectSteps(origin: string): ConnectStep[] {
	return [
		{
			title: 'Name this hub',
			why: 'In the shell that your agent starts from, or as url under [hub] in capsid.toml.',
			command: formatHubVariables(origin)
		},
		{
			title: 'Say hello',
			why: 'The node gets a secret of its own, and prints an address where you can claim it for your account.',
			command: 'capsid node hello'
		},
		{
			title: 'Set up your agent',
			why: 'In a repository. Also for codex, cursor and cline; --dry-run shows what would change.',
			command: 'capsid init --agent claude-code'
		},
		{
			title: 'Share what was proven',
			why: 'Sends the capsule that may be shared with its gene, redacted; --dry-run shows exactly what would be sent.',
			command: 'capsid node publish'
		}
	];
}

import type { Plugin } from 'vite';

export function licenses(): { pages: Plugin; worker: Plugin };
export function noticeAtHead(): Plugin;

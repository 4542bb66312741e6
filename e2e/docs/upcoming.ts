/** Pages that are being written: links to them may lead nowhere yet, and their blocks are not looked at. */
export const upcoming: readonly string[] = ['docs/backup-and-restore.md', 'docs/scaling.md', 'docs/upgrading.md']

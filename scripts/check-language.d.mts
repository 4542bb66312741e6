export function findBannedWords(text: string): Array<{ line: number; found: string; advice: string }>

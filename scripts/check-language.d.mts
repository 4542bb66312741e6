export function findBannedWords(
  text: string,
  isProduct?: boolean,
): Array<{ line: number; found: string; advice: string }>

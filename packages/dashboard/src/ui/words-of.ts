/** Returns a code in words: "cron_job.paused" is "Cron job paused", "api_key.created" is "API key created". */
export function wordsOf(code: string): string {
  const words = code.replaceAll(/[._]/g, ' ').replace('api key', 'API key')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

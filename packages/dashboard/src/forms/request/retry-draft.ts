import type { Retry } from '@belfry/contract/retry'
import { type RetryPolicy, retryDefaults, retryDelayMs } from '@belfry/domain/retry'
import { timeoutLimits } from '@belfry/domain/timeout'
import { formatDuration } from '../../ui/format-time.ts'
import { type FieldErrors, messagesIn } from '../form.tsx'

/** The retries and the timeout of a request, as the user types them. */
export type RetryDraft = ReturnType<typeof retryDraftOf>

const examples = '10, 300, 3600'

const { timeoutSeconds: _, ...standard } = retryDraftOf()

/** Common policies, as changes of a draft. */
export const retryPresets: Readonly<Record<string, Partial<RetryDraft>>> = {
  Default: standard,
  'No retries': { ...standard, maxRetries: '0' },
  'Three within a minute': { ...standard, maxRetries: '3', backoff: 'fixed', baseDelaySeconds: '20' },
  'Over a day': { ...standard, maxRetries: '10', maxDelaySeconds: '21600' },
  'Standard Webhooks': { backoff: 'custom', delaysSeconds: '5, 300, 1800, 7200, 18000, 36000, 50400, 72000, 86400' },
}

/** Converts a stored policy to the fields of the form. Default: the policy of a new task. */
export function retryDraftOf(retry?: Retry, timeoutMs: number = timeoutLimits.default) {
  const listed = retry && 'delays_ms' in retry ? retry.delays_ms : null
  const policy = retry && 'backoff' in retry ? retry : null
  return {
    maxRetries: String(policy?.max_retries ?? retryDefaults.maxRetries),
    backoff: listed ? ('custom' as const) : (policy?.backoff ?? retryDefaults.backoff),
    baseDelaySeconds: String((policy?.base_delay_ms ?? retryDefaults.baseDelayMs) / 1000),
    maxDelaySeconds: String((policy?.max_delay_ms ?? retryDefaults.maxDelayMs) / 1000),
    delaysSeconds: listed?.map(ms => ms / 1000).join(', ') ?? examples,
    timeoutSeconds: String(timeoutMs / 1000),
  }
}

/** Converts a draft to the fields of a body. Only for a draft that passes `checkRetry`. */
export function retryBodyOf(draft: RetryDraft): { retry: Retry; timeout_ms: number } {
  const { delaysMs, maxRetries, backoff, baseDelayMs, maxDelayMs } = policyOf(draft)
  return {
    retry: delaysMs
      ? { delays_ms: [...delaysMs] }
      : { max_retries: maxRetries, backoff, base_delay_ms: baseDelayMs, max_delay_ms: maxDelayMs },
    timeout_ms: toMs(draft.timeoutSeconds),
  }
}

/** Returns what the API would reject, by field. */
export function checkRetry(draft: RetryDraft): FieldErrors {
  return messagesIn({
    ...(draft.backoff === 'custom' ? { 'retry.delays_ms': checkDelays(draft) } : checkBackoff(draft)),
    timeout_ms: checkNumber(draft.timeoutSeconds, timeoutLimits.min / 1000, timeoutLimits.max / 1000, 'seconds'),
  })
}

function checkBackoff({ maxRetries, baseDelaySeconds, maxDelaySeconds }: RetryDraft): Record<string, string | null> {
  return {
    'retry.max_retries': checkNumber(maxRetries, 0, 20, 'retries', true),
    'retry.base_delay_ms': checkNumber(baseDelaySeconds, 1, 3600, 'seconds'),
    'retry.max_delay_ms':
      checkNumber(maxDelaySeconds, 1, 86_400, 'seconds') ??
      (Number(maxDelaySeconds) < Number(baseDelaySeconds) ? 'Must be at least the initial delay.' : null),
  }
}

function checkDelays(draft: RetryDraft): string | null {
  const delays = delaysOf(draft)
  if (delays.length < 1 || delays.length > 20) return 'Enter 1 to 20 delays.'
  return delays.map(delay => checkNumber(delay, 0, 30 * 86_400, 'seconds')).find(Boolean) ?? null
}

/**
 * Returns when the retries would start if every attempt failed immediately, in ms after the first attempt. Leaves out the
 * random variation of 10%.
 */
export function retryTimes(draft: RetryDraft): number[] {
  if (Object.keys(checkRetry(draft)).some(name => name.startsWith('retry.'))) return []
  const policy = policyOf(draft)
  let at = 0
  return Array.from({ length: policy.maxRetries }, (_, index) => {
    at += retryDelayMs(policy, index + 1, () => 0.5)
    return at
  })
}

/** Returns the maximum number of retries of a stored policy. */
export function retryCount(retry: Retry): number {
  return 'delays_ms' in retry ? retry.delays_ms.length : retry.max_retries
}

/** Returns the delays of a stored policy: "exponential, 10 s to 1 h" or "10 s, 5 min". */
export function describeDelays(retry: Retry): string {
  if ('delays_ms' in retry) return retry.delays_ms.map(formatDuration).join(', ')
  return `${retry.backoff}, ${formatDuration(retry.base_delay_ms)} to ${formatDuration(retry.max_delay_ms)}`
}

function policyOf(draft: RetryDraft): RetryPolicy {
  if (draft.backoff === 'custom') {
    const delaysMs = delaysOf(draft).map(toMs)
    return { ...retryDefaults, maxRetries: delaysMs.length, delaysMs }
  }
  return {
    maxRetries: Number(draft.maxRetries),
    backoff: draft.backoff,
    baseDelayMs: toMs(draft.baseDelaySeconds),
    maxDelayMs: toMs(draft.maxDelaySeconds),
  }
}

function delaysOf({ delaysSeconds }: RetryDraft): string[] {
  return delaysSeconds.split(/[\s,]+/).filter(Boolean)
}

function toMs(seconds: string): number {
  return Math.round(Number(seconds) * 1000)
}

function checkNumber(text: string, min: number, max: number, unit: string, isWhole = false): string | null {
  const value = text.trim() === '' ? Number.NaN : Number(text)
  const isValid = value >= min && value <= max && (!isWhole || Number.isInteger(value))
  return isValid ? null : `Enter ${min} to ${max.toLocaleString('en-GB')} ${unit}.`
}

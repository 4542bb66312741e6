import { secretVariables } from '@belfry/vault'
import type { Environment } from '../config.ts'

const minLength = 4
const censor = '[redacted]'
const keyForm = /\bbf_[A-Za-z0-9]{16,}/g
const webhookSecretForm = /\bwhsec_[A-Za-z0-9+/=]{8,}/g
const tokenForm = /\beyJ[\w-]{8,}\.[\w-]+\.[\w-]+/g
const userInUrl = /([a-z][a-z0-9+.-]*:\/\/)[^\s/@"']+@/gi

/**
 * Returns a function that removes from a text the secrets of an installation, with the passwords in its URLs, and everything
 * that looks like a credential: API keys, signing secrets, session tokens, and users in URLs.
 */
export function createRedaction(env: Environment): (text: string) => string {
  const secrets = [...new Set(secretVariables.flatMap(name => partsOf(env[name] ?? '')))]
    .filter(secret => secret.length >= minLength)
    .sort((a, b) => b.length - a.length)
  return text => {
    const known = secrets.reduce((rest, secret) => rest.replaceAll(secret, censor), text)
    return known
      .replaceAll(userInUrl, `$1${censor}@`)
      .replaceAll(keyForm, censor)
      .replaceAll(webhookSecretForm, censor)
      .replaceAll(tokenForm, censor)
  }
}

// The value itself, the keys of a list, and the password of a URL as it is written and as it is sent.
function partsOf(value: string): string[] {
  if (value === '') return []
  if (!URL.canParse(value)) return [value, ...value.split(',').map(entry => entry.replace(/^[^:]*:/, ''))]
  const { password } = new URL(value)
  const written = /^[^:]+:\/\/[^:/@]*:([^@]*)@/.exec(value)?.[1] ?? ''
  return [password, decode(password), written]
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

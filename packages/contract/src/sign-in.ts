import { z } from 'zod'
import { orNull, shownText, textOrNull } from './response-fields.ts'

/** Why a sign-in through the issuer failed: the sign-in page gets it as `?error=`. */
export type SignInError =
  | 'denied'
  | 'domain_refused'
  | 'email_missing'
  | 'email_unverified'
  | 'expired'
  | 'groups_missing'
  | 'invalid'
  | 'linked_to_another'
  | 'member_limit'
  | 'no_account'
  | 'outage'
  | 'rate_limited'
  | 'refused'
  | 'suspended'
  | 'unavailable'

/** How users sign in. */
export const signInMethods = z
  .object({
    password: z.boolean().meta({ description: 'Whether users sign in and register with a password.' }),
    oidc: orNull(
      z.object({
        name: shownText('The name of the issuer for users.', 'Keycloak'),
        available: z.boolean().meta({ description: 'Whether the issuer answered when the API asked it last.' }),
      }),
      { description: 'The OpenID Connect issuer; null without one.' },
    ),
  })
  .meta({ id: 'SignInMethods' })

export type SignInMethods = z.infer<typeof signInMethods>

export const startOidcBody = z.strictObject({
  return_to: z
    .string()
    .max(2000)
    .optional()
    .meta({ description: 'The path of the page to open after the sign-in.', examples: ['/'] }),
})

export const oidcStart = z
  .object({
    url: shownText(
      'The page of the issuer where the user signs in. Only the browser that got the cookie can finish it.',
      'https://issuer.example.com/authorize?client_id=belfry',
    ),
  })
  .meta({ id: 'OidcStart' })

export type OidcStart = z.infer<typeof oidcStart>

export const oidcLogout = z
  .object({
    url: textOrNull(
      'Where the browser signs out of the issuer; null when that is not possible.',
      'https://issuer.example.com/logout',
    ),
  })
  .meta({ id: 'OidcLogout' })

export type OidcLogout = z.infer<typeof oidcLogout>

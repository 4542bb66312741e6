import type { ReactNode } from 'react'
import { PageHeader } from '../../ui/page-header.tsx'

export function SigningSecrets(): ReactNode {
  return <PageHeader title="Signing secrets" />
}

import type { ReactNode } from 'react'
import { PlainLayout } from '../../layout/plain-layout.tsx'
import { Link } from '../../ui/button.tsx'

export function Profile(): ReactNode {
  return (
    <PlainLayout title="Profile" foot={<Link to="/">Back</Link>}>
      {null}
    </PlainLayout>
  )
}

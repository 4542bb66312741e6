/** The logo: a bell under its beam. */
export function Bell({ size = 22 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 24 24" aria-hidden="true">
      <rect width="24" height="24" rx="6" fill="var(--accent)" />
      <path
        d="M7 5h10M12 5v1.500M7.4 15.800c1-1 1.3-2.2 1.3-4.7 0-2.6 1.3-4.6 3.3-4.600s3.3 2 3.3 4.600c0 2.5.3 3.7 1.3 4.700zM10.6 18.600h2.8"
        fill="none"
        stroke="var(--on-accent)"
        strokeWidth="1.5"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  )
}

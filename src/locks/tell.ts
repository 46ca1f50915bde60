/** Tells a listener of the caller's. What it throws or rejects with goes to `failed`, and to nobody else. */
export function tell(listener: () => unknown, failed: (thrown: unknown) => void): void {
  void (async () => listener())().catch(failed)
}

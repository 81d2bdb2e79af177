public import Base

extension BidirectionalCollection<LinePhase> {
    /// The last of Apple's free trials among these phases: when it began, and when it ends or ended.
    ///
    /// A trial is cut into phases, where auto-renew is switched off or the first charge is heard of. Its end is that of its period; access
    /// goes on where it converts. An upgrade or a refund ends it before.
    public var lastTrial: (startsAt: Timestamp, endsAt: Timestamp?)? {
        guard let last = lastIndex(where: \.inTrial) else { return nil }
        let first = self[...last].reversed().prefix(while: \.inTrial).last ?? self[last]
        let ends = [self[last].periodEndsAt, self[index(after: last)...].first?.startsAt]
        return (first.startsAt, ends.compactMap(\.self).min())
    }
}

import Base

/// When something bought once was held: while any purchase of it stood.
struct HeldStretches {
    /// When it was not held in between.
    let gaps: [OneTimePurchase.Gap]
    /// When it ended for good; nil while it is held.
    let end: Timestamp?

    init(_ groups: [BoughtGroup]) {
        let stretches = groups.flatMap { Self.stretches(of: $0) }.sorted { $0.from < $1.from }
        let starts = groups.map(\.start)
        let start = starts.min() ?? .distantPast
        var gaps: [OneTimePurchase.Gap] = []
        var reached: Timestamp? = start
        for stretch in stretches {
            guard let last = reached else { break }
            if last < stretch.from {
                gaps.append(
                    OneTimePurchase.Gap(
                        from: last, until: stretch.from, isBoughtAgain: starts.contains(stretch.from)))
            }
            reached = stretch.until.map { max(last, $0) }
        }
        self.gaps = gaps
        end = stretches.isEmpty ? groups.flatMap(\.refunds).map(\.from).min() : reached
    }

    private static func stretches(of group: BoughtGroup) -> [(from: Timestamp, until: Timestamp?)] {
        var stretches: [(from: Timestamp, until: Timestamp?)] = []
        var from = group.start
        for refund in group.refunds {
            if from < refund.from { stretches.append((from, refund.from)) }
            guard let until = refund.until else { return stretches }
            from = max(from, until)
        }
        return stretches + [(from, nil)]
    }
}

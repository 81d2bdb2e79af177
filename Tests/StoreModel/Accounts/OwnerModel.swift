/// Whose a line is at an instant, by what Apple signed and what was recorded of it.
package struct OwnerModel: Sendable {
    /// Periods without a lapse between them that the customer ended by buying again.
    private struct Stretch {
        var begins: Int64
        var next: Int64
        var periods: [LinePeriod]
    }

    private let bindings: [LifeBinding]

    /// What was recorded of one line, in any order.
    package init(_ bindings: [LifeBinding]) {
        self.bindings = bindings.sorted { ($0.at, $0.id) < ($1.at, $1.id) }
    }

    /// Who was erased by an instant: what Apple signed for them counts no more.
    private func erased(at instant: Int64) -> Set<String> {
        Set(bindings.filter { $0.kind == .erasure && $0.at <= instant }.map(\.account))
    }

    /// What was recorded by an instant, but for what was recorded before its owner was erased: that freed it for the account that proves it
    /// next.
    private func standing(at instant: Int64) -> [LifeBinding] {
        let known = bindings.filter { $0.at <= instant }
        let freed = known.lastIndex { $0.kind == .erasure }.map { $0 + 1 }
        return Array(known[(freed ?? 0)...])
    }

    /// The owner; nil where the line has none, or was not bought yet.
    package func owner(of line: LineModel, at instant: Int64) -> String? {
        let stretches = Self.stretches(line.begun(by: instant), of: line)
        guard !stretches.isEmpty else { return nil }
        for var stretch in stretches.reversed() {
            // What is signed into a stretch that is over changes nothing any more.
            if stretch.next <= instant,
                let then = Self.stretches(line.begun(by: stretch.next - 1), of: line).last
            {
                stretch.periods = then.periods
            }
            if let owner = owner(in: stretch, at: instant) { return owner }
        }
        let erased = erased(at: instant)
        return line.renewalToken(at: instant).flatMap { erased.contains($0) ? nil : $0 }
    }

    /// The owner of something bought once: one stretch without an end.
    package func owner(of thing: ThingModel, at instant: Int64) -> String? {
        guard let purchased = thing.purchased(at: instant) else { return nil }
        let erased = erased(at: instant)
        let token = thing.token(at: instant).flatMap { erased.contains($0) ? nil : $0 }
        return recorded([.staff], from: purchased, before: .max, at: instant) ?? token
            ?? recorded([.proof, .transfer], from: purchased, before: .max, at: instant)
    }

    /// A move by staff, else a token that was signed, else the first proof and what was passed on from there.
    private func owner(in stretch: Stretch, at instant: Int64) -> String? {
        let erased = erased(at: instant)
        let token = stretch.periods.reversed().compactMap(\.token).first { !erased.contains($0) }
        return recorded([.staff], from: stretch.begins, before: stretch.next, at: instant) ?? token
            ?? recorded([.proof, .transfer], from: stretch.begins, before: stretch.next, at: instant)
    }

    private func recorded(
        _ kinds: Set<LifeBinding.Kind>, from begin: Int64, before end: Int64, at instant: Int64
    ) -> String? {
        let there = standing(at: instant).filter { kinds.contains($0.kind) && begin <= $0.at && $0.at < end }
        // Of proofs the first counts; a move or a transfer takes the place of what was before it.
        let moved = there.last { $0.kind == .staff || $0.kind == .transfer }
        return (moved ?? there.first)?.account
    }

    private static func stretches(_ periods: [LinePeriod], of line: LineModel) -> [Stretch] {
        var stretches: [Stretch] = []
        for period in periods {
            if stretches.isEmpty || line.isBoughtAfterLapse(period) {
                if let last = stretches.indices.last { stretches[last].next = period.begins }
                // What was before the first that was heard of belongs to its stretch.
                let start = stretches.isEmpty ? .min : period.begins
                stretches.append(Stretch(begins: start, next: .max, periods: [period]))
            } else {
                stretches[stretches.count - 1].periods.append(period)
            }
        }
        return stretches
    }

    /// What is recorded when an account proves the line with a signed transaction; nil where nothing is.
    ///
    /// Who had an earlier stretch is no ground to refuse.
    package func claim(
        _ line: LineModel, by account: String, at instant: Int64, mayTransfer: Bool
    ) -> LifeBinding.Kind? {
        let stretches = Self.stretches(line.begun(by: instant), of: line)
        guard let stretch = stretches.last else { return nil }
        guard let owner = owner(in: stretch, at: instant) else { return .proof }
        let erased = erased(at: instant)
        let isSigned = stretch.periods.compactMap(\.token).contains { !erased.contains($0) }
        let isMoved = recorded([.staff], from: stretch.begins, before: stretch.next, at: instant) != nil
        return owner != account && mayTransfer && !isSigned && !isMoved ? .transfer : nil
    }

    /// The same of something bought once.
    package func claim(
        _ thing: ThingModel, by account: String, at instant: Int64, mayTransfer: Bool
    ) -> LifeBinding.Kind? {
        guard let purchased = thing.purchased(at: instant) else { return nil }
        guard let owner = owner(of: thing, at: instant) else { return .proof }
        let isMoved = recorded([.staff], from: purchased, before: .max, at: instant) != nil
        let isSigned = thing.token(at: instant).map { !erased(at: instant).contains($0) } ?? false
        return owner != account && mayTransfer && !isSigned && !isMoved ? .transfer : nil
    }
}

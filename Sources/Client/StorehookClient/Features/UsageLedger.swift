import Foundation

/// What one account has used, as this device knows it: what the server has counted, and what waits to be reported. A value without I/O.
struct UsageLedger: Sendable, Hashable, Codable {
    /// What the server has counted of a feature.
    struct Line: Sendable, Hashable, Codable {
        /// The period that it counts.
        var window: UsageWindow
        /// How much was used in it.
        var used: Int64
        /// Whether the window is the device's estimate, because the server has not stated one.
        var isEstimated = false

        /// The line of an instant: in a later period nothing is used yet.
        func rolled(to now: Date) -> Line {
            let rolled = window.rolled(to: now)
            return rolled == window ? self : Line(window: rolled, used: 0, isEstimated: isEstimated)
        }
    }

    /// A report that waits. Only the first one can have been sent already.
    struct Entry: Sendable, Hashable, Codable {
        /// The catalog's id of the feature.
        var feature: String
        /// What it does to the count.
        var act: UsageAct
        /// Names it, so that it counts once however often it is sent.
        var key: String
        /// When it was used.
        var usedAt: Date
        /// Whether it is sent with that instant. It is not where the server took that for invalid.
        var isDated = true
    }

    /// Why a use is not counted.
    enum Refusal: Error, Hashable {
        /// It is more than what is left.
        case limit
        /// The server would not take the amount.
        case bounds
    }

    /// Whose it is.
    let account: String
    /// What tiers give, as last read; nil before that.
    var rules: FeatureRules?
    /// What the server has counted, by feature.
    var lines: [String: Line] = [:]
    /// What waits to be reported, oldest first.
    var pending: [Entry] = []

    /// Nothing yet.
    init(account: String) { self.account = account }

    /// How many reports wait at most. Beyond it a use joins the last report of its feature, so that the file stays small.
    static let mostPending = 500

    /// How much of a feature was used, and until when that counts; nil where it is not counted.
    func use(of feature: String, at now: Date) -> UsageLine? {
        guard let line = lines[feature]?.rolled(to: now) else { return nil }
        let used = pending.lazy.filter { $0.feature == feature && line.window.contains($0.usedAt) }
            .reduce(line.used) { $1.act.applied(to: $0) }
        return UsageLine(
            feature: feature, period: line.window.period, used: used, resetsAt: line.window.resetsAt)
    }

    /// Counts a use at once.
    /// - Parameters:
    ///   - limit: what the account's tier gives of the feature.
    ///   - key: names the report.
    /// - Throws: what is refused changes nothing.
    mutating func count(
        _ act: UsageAct, of feature: String, limit: FeatureLimit, key: String, at now: Date, in timeZone: TimeZone
    ) throws(Refusal) {
        guard act.isWithinBounds else { throw .bounds }
        if lines[feature] == nil {
            var period = FeatureLimit.Period.total
            if case .count(_, let stated) = limit { period = stated }
            lines[feature] = Line(window: .estimated(period, at: now, in: timeZone), used: 0, isEstimated: true)
        }
        let before = use(of: feature, at: now)?.used ?? 0
        let after = act.applied(to: before)
        // As the server has it: giving back is never refused, and neither is a stock that becomes smaller.
        if after > before {
            guard limit.isOpen, after <= limit.most ?? .max else { throw .limit }
        }
        append(Entry(feature: feature, act: act, key: key, usedAt: now), at: now)
    }

    private mutating func append(_ entry: Entry, at now: Date) {
        // Only the first can have been sent: a report that has been must stay as it is.
        if pending.count >= Self.mostPending, case .add(let amount) = entry.act,
            let last = pending.indices.dropFirst().last(where: { pending[$0].feature == entry.feature }),
            case .add(let earlier) = pending[last].act, UsageAct.add(earlier + amount).isWithinBounds,
            lines[entry.feature]?.rolled(to: now).window.contains(pending[last].usedAt) == true
        {
            pending[last].act = .add(earlier + amount)
        } else {
            pending.append(entry)
        }
    }

    /// Takes note that the server has counted the first report that waits.
    /// - Parameters:
    ///   - used: how much was used after it, by the server; nil where the answer is of another time, or says nothing.
    ///   - window: the period that the server counted it in; nil where the answer does not say.
    mutating func acknowledge(_ key: String, used: Int64?, window: UsageWindow?) {
        guard let entry = pending.first, entry.key == key else { return }
        pending.removeFirst()
        guard var line = lines[entry.feature] else { return }
        let isNewer = (window?.resetsAt ?? .distantFuture) >= (line.window.resetsAt ?? .distantFuture)
        if let used, let window, isNewer || line.isEstimated {
            line = Line(window: window, used: used)
        } else if line.window.contains(entry.usedAt) {
            line.used = entry.act.applied(to: line.used)
        }
        lines[entry.feature] = line
    }

    /// The same counts after those of an earlier process: its reports are sent first.
    func following(_ kept: UsageLedger) -> UsageLedger {
        var all = kept
        all.rules = rules ?? kept.rules
        all.lines.merge(lines) { kept, own in own.isEstimated ? kept : own }
        all.pending += pending
        return all
    }

    /// Takes note that the server will never count the first report that waits.
    mutating func drop(_ key: String) {
        if pending.first?.key == key { pending.removeFirst() }
    }

    /// Has the first report that waits sent anew without its instant, which the server took for invalid.
    mutating func undate(_ key: String, newKey: String, at now: Date) {
        guard pending.first?.key == key else { return }
        pending[0].key = newKey
        pending[0].usedAt = now
        pending[0].isDated = false
    }

    /// Takes the server's counts in place of those here. What waits here goes on top.
    ///
    /// It must not be called while the first report may have been counted without an answer: it would count twice here.
    mutating func adopt(_ counts: [String: Line]) { lines = counts }
}

extension UsageLedger {
    // What a later release of the app adds is empty in the caches of earlier ones.
    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        account = try members.decode(String.self, forKey: .account)
        rules = try members.decodeIfPresent(FeatureRules.self, forKey: .rules)
        lines = try members.decodeIfPresent([String: Line].self, forKey: .lines) ?? [:]
        pending = try members.decodeIfPresent([Entry].self, forKey: .pending) ?? []
    }
}

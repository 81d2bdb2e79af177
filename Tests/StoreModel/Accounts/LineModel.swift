/// One subscription line, judged at one instant from nothing but what was heard of it.
///
/// Written from Apple's rules as the documents of this service tell them, for tests to hold the service against. It is slow:
/// each question begins with all records.
package struct LineModel: Sendable {
    static let configuredGrace = 16 * ModelTime.day
    private static let lost = "lost"

    let messages: [LifeMessage]
    let transactions: [LifeTransaction]
    let renewals: [(signed: Int64, info: LifeRenewal, status: Int?)]
    let reports: [(signed: Int64, status: Int, message: LifeMessage)]
    let leeway: Int64
    /// All records of each period, in the order of signing.
    private let recordsOfPeriods: [(name: String, records: [LifeTransaction])]
    /// The periods that renewal info alone speaks of, each by the first that does, in the order of signing.
    private var lost: [LinePeriod] = []
    /// For dates of purchases, when all that had begun before ended, as it stood just before; nothing but time is saved by it.
    private var known: [Int64: Int64] = [:]

    /// What was heard of one line, in any order.
    package init(_ messages: [LifeMessage], leeway: Int64) {
        let messages = messages.sorted { $0.signed < $1.signed }
        self.messages = messages
        transactions = messages.compactMap(\.transaction)
        renewals = messages.compactMap { message in
            message.renewal.map { (message.signed, $0, message.status) }
        }
        reports = messages.compactMap { message in
            message.status.flatMap { (1...5).contains($0) ? (message.signed, $0, message) : nil }
        }
        self.leeway = leeway
        recordsOfPeriods = Self.periods(of: transactions)
        for (signed, _, _) in renewals {
            for period in periods(at: signed) where period.name == Self.lost {
                if lost.contains(where: { $0.product == period.product && $0.ends == period.ends }) { continue }
                lost.append(period)
            }
        }
    }

    /// The same line, for a caller that asks of many instants whether the customer bought again after a lapse.
    package var remembering: LineModel {
        var line = self
        for begins in Set(transactions.map(\.purchased) + lost.map(\.begins)) {
            line.known[begins] = endOfAll(before: begins) ?? .max
        }
        return line
    }

    // MARK: - Periods

    private static func periods(of transactions: [LifeTransaction]) -> [(name: String, records: [LifeTransaction])] {
        var groups: [String: [LifeTransaction]] = [:]
        for transaction in transactions where transaction.kind == .subscription {
            groups[transaction.lineItem ?? transaction.id, default: []].append(transaction)
        }
        // What was added to a period may have its line item: then the date of the purchase distinguishes the two.
        for (name, records) in groups where records.contains(where: { $0.additionalReason != nil }) {
            groups[name] = nil
            for record in records {
                let purchased = records.last { $0.id == record.id }?.purchased ?? record.purchased
                groups["\(name) of \(purchased)", default: []].append(record)
            }
        }
        return groups.map { ($0.key, $0.value) }.sorted { $0.name < $1.name }
    }

    private func records(of period: LinePeriod) -> [LifeTransaction] {
        recordsOfPeriods.first { $0.name == period.name }?.records ?? []
    }

    /// Whether two are parts of one period: of one product, to one end, and one of those says so.
    private static func areParts(_ one: LinePeriod, _ other: LinePeriod, among periods: [LinePeriod]) -> Bool {
        guard one.name != other.name, one.product == other.product, one.ends == other.ends else { return false }
        return periods.contains { $0.isPart && $0.product == one.product && $0.ends == one.ends }
    }

    /// Of the parts of one period the one that speaks for it: the first that stands, else the one that ended last.
    private static func speaker(of period: LinePeriod, among periods: [LinePeriod], at instant: Int64) -> LinePeriod {
        let parts = periods.filter { $0.name == period.name || areParts($0, period, among: periods) }
            .filter { $0.begins <= instant }
        return parts.first { $0.revoked == nil } ?? parts.max { $0.stops < $1.stops } ?? period
    }

    /// The periods that exist at the instant, void ones included, in the order of beginning.
    ///
    /// One exists from its purchase on; one that was charged ahead from its first signature on.
    func allPeriods(at instant: Int64) -> [LinePeriod] {
        let periods = recordsOfPeriods.compactMap { name, records -> LinePeriod? in
            guard let first = records.first, let last = records.last, let ends = last.expires else { return nil }
            guard last.purchased <= instant || first.signed <= instant else { return nil }
            var period = LinePeriod(
                name: name, product: last.product, begins: last.purchased, ends: ends, reason: last.reason,
                firstSigned: first.signed, lastSigned: last.signed)
            period.isTrial = last.isTrial
            period.isUpgraded = last.isUpgraded
            period.isPart = records.contains { $0.additionalReason != nil }
            period.revoked = Self.revocation(records, at: instant)
            period.token = Self.token(records, at: instant)
            return period
        }
        return periods.sorted { ($0.begins, $0.ends, $0.name) < ($1.begins, $1.ends, $1.name) }
    }

    /// A revocation counts from its own date, whenever it was heard; that it is gone counts from the signature.
    private static func revocation(_ records: [LifeTransaction], at instant: Int64) -> Int64? {
        var revoked: Int64?
        for record in records {
            if let date = record.revoked {
                if date <= instant { revoked = revoked ?? date }
            } else if record.signed <= instant {
                revoked = nil
            }
        }
        return revoked
    }

    /// The first token signed into a period counts from its beginning, another one from its signature.
    private static func token(_ records: [LifeTransaction], at instant: Int64) -> String? {
        var token: String?
        for record in records {
            guard let signed = account(record.token) else { continue }
            if token == nil || record.signed <= instant { token = signed }
        }
        return token
    }

    /// The nil UUID names no account.
    private static func account(_ token: String?) -> String? {
        token == "00000000-0000-0000-0000-000000000000" ? nil : token
    }

    /// Whether a renewal was replaced before it began, by something bought after it was charged.
    private func isVoid(_ renewal: LinePeriod, among periods: [LinePeriod], at instant: Int64) -> Bool {
        guard renewal.isRenewal else { return false }
        let records = records(of: renewal)
        return periods.contains { bought in
            guard bought.name != renewal.name, bought.product != renewal.product, !bought.isChargedAhead,
                bought.begins <= instant
            else { return false }
            guard renewal.begins - ModelTime.day <= bought.begins, bought.begins < renewal.begins,
                renewal.begins < bought.ends
            else { return false }
            if records.contains(where: { $0.signed < bought.begins }) { return true }
            guard renewal.isUpgraded else { return false }
            let beginsAtASeam = periods.contains {
                $0.begins < bought.begins && abs($0.ends - renewal.begins) <= ModelTime.minute
            }
            let isEmpty = !periods.contains {
                renewal.begins < $0.begins && $0.begins < renewal.ends && $0.begins < bought.ends - ModelTime.day
            }
            return beginsAtASeam || isEmpty
        }
    }

    /// The periods that count at the instant, each with its real end, in the order of beginning.
    ///
    /// What is known of a lost period by renewal info alone is one of them.
    package func periods(at instant: Int64) -> [LinePeriod] {
        let all = allPeriods(at: instant)
        var periods = all.filter { !isVoid($0, among: all, at: instant) }
        if let info = info(at: instant, periods) { complete(&periods, by: info) }
        for index in periods.indices { periods[index].stops = stop(of: periods[index], among: periods) }
        return periods
    }

    /// The periods that have begun by an instant, the one that gives the status with them: it may be charged ahead. A lost
    /// one stays among them when newer renewal info speaks of another.
    package func begun(by instant: Int64) -> [LinePeriod] {
        var periods = periods(at: instant).filter { $0.name != Self.lost }
        periods += lost.filter { $0.firstSigned <= instant }
        periods.sort { ($0.begins, $0.ends, $0.name) < ($1.begins, $1.ends, $1.name) }
        if periods.allSatisfy({ $0.begins <= instant }) { return periods }
        let latest = max(instant, verdict(at: instant)?.period.begins ?? instant)
        let begun = periods.filter { $0.begins <= latest }
        return begun.isEmpty ? periods : begun
    }

    /// When all that had begun before an instant ended, as it stood just before; nil where nothing had.
    private func endOfAll(before instant: Int64) -> Int64? {
        if let end = known[instant] { return end == .max ? nil : end }
        return periods(at: instant - 1).filter { $0.begins < instant }.map(\.stops).max()
    }

    /// Whether the customer bought a period after all that was before it had ended. What becomes known later of a time before, like
    /// that a refund is taken back, does not change that.
    ///
    /// Where Apple does not say why it is, more than a day must lie between, and nothing may have been retried.
    package func isBoughtAfterLapse(_ period: LinePeriod) -> Bool {
        guard let end = endOfAll(before: period.begins) else { return false }
        switch period.reason {
        case "PURCHASE": return end < period.begins
        case nil:
            let before = verdict(at: period.begins - 1)?.status
            return end < period.begins - ModelTime.day && before != .billingRetry && before != .gracePeriod
        default: return false
        }
    }

    private func stop(of period: LinePeriod, among periods: [LinePeriod]) -> Int64 {
        var stop = min(period.ends, period.revoked ?? .max)
        for later in periods where period.begins < later.begins && later.begins < period.ends {
            let isRefundedRenewal =
                later.isRenewal && later.revoked != nil && later.begins >= period.ends - ModelTime.day
            if !isRefundedRenewal && !Self.areParts(later, period, among: periods) { stop = min(stop, later.begins) }
        }
        return stop
    }

    // MARK: - Renewal info

    /// The newest renewal info, unless a period was bought after it that it does not speak of.
    ///
    /// One that was bought before it, and is first heard of later (by its refund), says nothing against it.
    private func info(at instant: Int64, _ periods: [LinePeriod]) -> (info: LifeRenewal, status: Int?)? {
        guard let newest = renewals.last(where: { $0.signed <= instant }) else { return nil }
        let isStale = periods.contains {
            $0.begins > newest.signed && $0.firstSigned > newest.signed && $0.ends != newest.info.date
        }
        return isStale ? nil : (newest.info, newest.status)
    }

    /// Moves the end that renewal info moves, or adds the period that it alone speaks of.
    private func complete(_ periods: inout [LinePeriod], by word: (info: LifeRenewal, status: Int?)) {
        guard let date = word.info.date, let last = periods.indices.last else { return }
        // A record of before the end was moved names the period as well.
        let isNamed = periods.contains { period in
            records(of: period).contains { $0.product == word.info.product && $0.expires == date }
        }
        if isNamed { return }
        let latest = periods[last]
        if latest.product == word.info.product, latest.revoked == nil, word.info.signed >= latest.lastSigned {
            let isInLastDay = latest.ends - ModelTime.day <= word.info.signed && word.info.signed < latest.ends
            if !isInLastDay {
                periods[last].ends = max(latest.ends, date)
            } else if latest.ends < date {
                // The next renewal, charged ahead.
                periods.append(
                    LinePeriod(
                        name: Self.lost, product: word.info.product, begins: latest.ends, ends: date,
                        reason: "RENEWAL", firstSigned: word.info.signed, lastSigned: word.info.signed))
            }
            return
        }
        // An end that was moved, and moved again since: the period is the one that ran when the word was signed.
        let derived = periods.last { $0.begins <= word.info.signed }
        if let derived, derived.product == word.info.product, derived.revoked.map({ $0 > word.info.signed }) ?? true {
            return
        }
        let isUnknown = date > (periods.map { stop(of: $0, among: periods) }.max() ?? .min)
        let isRunning = word.status == 1
        guard isRunning || (isUnknown && (word.status == 3 || word.status == 4)) else { return }
        var lost = LinePeriod(
            name: Self.lost, product: word.info.product, begins: min(word.info.signed, date - 1), ends: date,
            firstSigned: word.info.signed, lastSigned: word.info.signed)
        lost.reason = nil
        periods.append(lost)
        periods.sort { ($0.begins, $0.ends, $0.name) < ($1.begins, $1.ends, $1.name) }
    }

    /// The token of the newest renewal info, where no period that has begun carries one: it is about the renewal to come.
    package func renewalToken(at instant: Int64) -> String? {
        if begun(by: instant).contains(where: { $0.token != nil }) { return nil }
        return renewals.last { $0.signed <= instant }.flatMap { Self.account($0.info.token) }
    }

    /// What the newest renewal info signed by an instant says that the line renews to.
    package func nextProduct(at instant: Int64) -> String? {
        renewals.last { $0.signed <= instant }?.info.nextProduct
    }

    // MARK: - Status

    /// What the line is at an instant; nil before it was bought.
    package func verdict(at instant: Int64) -> LineVerdict? {
        guard let verdict = verdictByRecords(at: instant) else { return nil }
        return verdictByReport(at: instant, instead: verdict) ?? verdict
    }

    func verdictByRecords(at instant: Int64) -> LineVerdict? {
        let periods = periods(at: instant)
        let next = periods.first {
            $0.isRenewal && $0.begins > instant && $0.begins - instant <= ModelTime.day && $0.revoked == nil
        }
        let last = periods.last { $0.begins <= instant }
        guard let latest = last.map({ Self.speaker(of: $0, among: periods, at: instant) }) ?? next else { return nil }
        let word = info(at: instant, periods)
        if let covering = periods.last(where: { $0.covers(instant) }) {
            let running = Self.speaker(of: covering, among: periods, at: instant)
            let status: LineVerdict.Status =
                word?.info.renews == false ? .cancelled : running.isTrial ? .trial : .active
            return LineVerdict(
                status: status, period: running, inTrial: running.isTrial, ahead: Self.ahead(of: running, periods))
        }
        if let next {
            return LineVerdict(status: .active, period: next, ahead: Self.ahead(of: next, periods))
        }
        if latest.revoked != nil { return LineVerdict(status: .revoked, period: latest) }
        if let word, let retried = retry(of: latest, by: word, at: instant) { return retried }
        if waits(for: latest, at: instant) {
            return LineVerdict(
                status: latest.isTrial ? .trial : .active, period: latest, inTrial: latest.isTrial, isWaiting: true,
                ahead: [.init(product: latest.product, until: latest.ends + leeway)])
        }
        return LineVerdict(status: .expired, period: latest)
    }

    /// What is paid in one stretch from a period on.
    private static func ahead(of period: LinePeriod, _ periods: [LinePeriod]) -> [LineVerdict.Access] {
        var ahead = [LineVerdict.Access(product: period.product, until: period.stops)]
        var end = period.stops
        while let next = periods.first(where: { $0.begins == end && $0.stops > end }) {
            end = next.stops
            ahead.append(LineVerdict.Access(product: next.product, until: end))
        }
        return ahead
    }

    private func retry(
        of latest: LinePeriod, by word: (info: LifeRenewal, status: Int?), at instant: Int64
    ) -> LineVerdict? {
        let info = word.info
        let report = reports.last { $0.signed <= instant }
        let isGraceByStatus = info.isInRetry == nil && report?.status == 4 && info.graceEnds != nil
        guard info.isInRetry == true || isGraceByStatus, instant < latest.ends + ModelTime.retry else { return nil }
        var graceEnds = info.graceEnds
        if graceEnds == nil, report?.status == 4 { graceEnds = latest.ends + Self.configuredGrace }
        let isLeftover = report.map { $0.signed > info.signed && ($0.status == 2 || $0.status == 3) } ?? false
        if let graceEnds, instant < graceEnds, !isLeftover {
            return LineVerdict(
                status: .gracePeriod, period: latest, ahead: [.init(product: latest.product, until: graceEnds)])
        }
        return LineVerdict(status: .billingRetry, period: latest)
    }

    /// Whether the renewal of a period that has ended is waited for.
    private func waits(for latest: LinePeriod, at instant: Int64) -> Bool {
        guard instant < latest.ends + leeway else { return false }
        for report in reports where latest.ends < report.signed && report.signed <= instant { return false }
        for (place, renewal) in renewals.enumerated() where latest.ends < renewal.signed && renewal.signed <= instant {
            let isRepeated = renewals[..<place].contains { Self.isSame($0.info, renewal.info) }
            if !isRepeated { return false }
        }
        let since = min(latest.begins, latest.firstSigned)
        let words =
            renewals.filter { since <= $0.signed && $0.signed <= latest.ends }.map {
                (signed: $0.signed, isNo: !$0.info.renews)
            }
            + reports.filter { since <= $0.signed && $0.signed <= latest.ends }.map {
                (signed: $0.signed, isNo: [2, 3, 5].contains($0.status))
            }
        guard let newest = words.map(\.signed).max() else { return true }
        return !words.contains { $0.signed == newest && $0.isNo }
    }

    static func isSame(_ one: LifeRenewal, _ other: LifeRenewal) -> Bool {
        var moved = one
        moved.signed = other.signed
        return moved == other
    }

    /// The instants at which anything may change: each date that was heard, and what is counted from it.
    package var borders: Set<Int64> {
        var borders = Set<Int64>()
        for record in transactions {
            let dates = [record.purchased, record.expires, record.revoked, record.signed].compactMap { $0 }
            borders.formUnion(dates)
            if let ends = record.expires {
                borders.formUnion([ends + leeway, ends + ModelTime.retry, ends + Self.configuredGrace])
            }
            borders.insert(record.purchased - ModelTime.day)
        }
        for (signed, info, _) in renewals {
            borders.formUnion([signed, info.graceEnds, info.date].compactMap { $0 })
            if let date = info.date {
                borders.formUnion([date + leeway, date + ModelTime.retry, date + Self.configuredGrace])
            }
        }
        for report in reports { borders.formUnion([report.signed, report.signed + ModelTime.day]) }
        return borders
    }
}

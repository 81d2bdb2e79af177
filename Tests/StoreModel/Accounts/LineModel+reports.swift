/// What Apple reported and the records do not explain.
extension LineModel {
    func verdictByReport(at instant: Int64, instead verdict: LineVerdict) -> LineVerdict? {
        guard let report = reports.last(where: { $0.signed <= instant }) else { return nil }
        let explained = verdictByRecords(at: report.signed)?.status.apple
        if explained == report.status || hasNews(after: report.signed, by: instant) { return nil }
        // A refund that is heard later counts from its own date: what was known when Apple reported may have explained it.
        if explained == LineVerdict.Status.revoked.apple {
            let known = LineModel(messages.filter { $0.signed <= report.signed }, leeway: leeway)
            if known.verdictByRecords(at: report.signed)?.status.apple == report.status { return nil }
        }
        let date = [report.message.renewal?.date, report.message.transaction?.expires]
            .compactMap { $0 }.first { $0 > report.signed }
        let ends = allPeriods(at: report.signed).map(\.ends).max() ?? report.signed
        // An end that had passed when Apple said so bounds nothing: until Apple says something else.
        let over = ends > report.signed ? ends : .max
        let (status, until): (LineVerdict.Status, Int64) =
            switch report.status {
            case 1: (isSwitchedOff(at: instant) ? .cancelled : .active, date ?? report.signed + ModelTime.day)
            case 2: (.expired, date ?? over)
            case 3: (.billingRetry, ends + ModelTime.retry)
            case 4: (.gracePeriod, report.message.renewal?.graceEnds ?? ends + Self.configuredGrace)
            default: (.revoked, date ?? over)
            }
        guard instant < until else { return nil }
        return LineVerdict(
            status: status, period: verdict.period,
            ahead: status.access ? [.init(product: verdict.period.product, until: until)] : [])
    }

    private func isSwitchedOff(at instant: Int64) -> Bool {
        renewals.last { $0.signed <= instant }?.info.renews == false
    }

    /// Whether Apple has signed anything since that says something else than what was signed before it.
    private func hasNews(after report: Int64, by instant: Int64) -> Bool {
        for (place, record) in transactions.enumerated() where report < record.signed {
            // A purchase counts from its own date, whenever it was heard.
            guard min(record.signed, record.purchased > report ? record.purchased : .max) <= instant else { continue }
            let isKnown = transactions[..<place].contains { earlier in
                var moved = earlier
                moved.signed = record.signed
                return moved == record
            }
            if !isKnown { return true }
        }
        for (place, renewal) in renewals.enumerated() where report < renewal.signed && renewal.signed <= instant {
            if !renewals[..<place].contains(where: { Self.isSame($0.info, renewal.info) }) { return true }
        }
        return false
    }
}

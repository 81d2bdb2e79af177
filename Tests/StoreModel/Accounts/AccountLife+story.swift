extension AccountLife {
    /// The life in words, a line for each thing in the order of its date, for a test that fails.
    package var story: String {
        let begin = messages.map(\.signed).min() ?? 0
        func day(_ instant: Int64?) -> String {
            guard let instant else { return "-" }
            let thousandths = (instant - begin) * 1_000 / ModelTime.day
            let (whole, rest) = (abs(thousandths) / 1_000, abs(thousandths) % 1_000)
            return "\(thousandths < 0 ? "-" : "")\(whole).\(String(rest + 1_000).dropFirst())"
        }
        func who(_ token: String?) -> String { token.map { String($0.prefix(1)) } ?? "nobody" }
        var told: [(at: Int64, words: String)] = messages.map { message in
            var words = "\(message.line) \(message.name), status \(message.status.map(String.init) ?? "-")"
            if let record = message.transaction {
                words += "; \(record.id) \(record.product) \(record.reason ?? "-") [\(day(record.purchased))"
                words += ", \(day(record.expires))] of \(who(record.token))"
                if record.isTrial { words += ", trial" }
                if record.isUpgraded { words += ", upgraded" }
                if let revoked = record.revoked { words += ", revoked \(day(revoked))" }
            }
            if let info = message.renewal {
                words +=
                    "; \(info.product) until \(day(info.date)), \(info.renews ? "then" : "not") \(info.nextProduct)"
                words += " of \(who(info.token))"
                if let isInRetry = info.isInRetry { words += ", retry \(isInRetry)" }
                if let graceEnds = info.graceEnds { words += ", grace until \(day(graceEnds))" }
            }
            return (message.signed, words)
        }
        told += bindings.flatMap { line, bindings in
            bindings.map { ($0.at, "\(line) \($0.kind.rawValue) of \(who($0.account))") }
        }
        told += acts.map { ($0.at, "act \($0.id): \($0.kind)") }
        told += laterCatalogs.map { ($0.from, "catalog \($0.catalog.words)") }
        if let erased { told.append((erased, "erased")) }
        if let trial { told.append((trial.starts, "trial of \(trial.tier) until \(day(trial.ends))")) }
        return told.sorted { ($0.at, $0.words) < ($1.at, $1.words) }.map { "\(day($0.at)) \($0.words)" }
            .joined(separator: "\n") + "\nleeway \(leeway / 1_000) s, day 0 is \(begin)"
    }
}

extension LifeCatalog {
    fileprivate var words: String {
        let sold = products.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        return "\(tiers), \(sold), \(termDays)"
    }
}

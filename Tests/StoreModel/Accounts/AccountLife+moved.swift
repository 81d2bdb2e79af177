extension AccountLife {
    /// The same life, so many milliseconds later.
    package func moved(by distance: Int64) -> AccountLife {
        var life = self
        life.messages = messages.map { $0.moved(by: distance) }
        life.bindings = bindings.mapValues { bindings in
            bindings.map { binding in
                var binding = binding
                binding.at += distance
                return binding
            }
        }
        for place in acts.indices { life.acts[place].at += distance }
        life.erased = erased.map { $0 + distance }
        life.trial = trial.map { ($0.tier, $0.starts + distance, $0.ends + distance) }
        life.laterCatalogs = laterCatalogs.map { ($0.from + distance, $0.catalog) }
        return life
    }
}

extension LifeMessage {
    fileprivate func moved(by distance: Int64) -> LifeMessage {
        var message = self
        message.signed += distance
        if var record = transaction {
            record.purchased += distance
            record.signed += distance
            record.firstPurchased = record.firstPurchased.map { $0 + distance }
            record.expires = record.expires.map { $0 + distance }
            record.revoked = record.revoked.map { $0 + distance }
            message.transaction = record
        }
        if var info = renewal {
            info.signed += distance
            info.date = info.date.map { $0 + distance }
            info.graceEnds = info.graceEnds.map { $0 + distance }
            message.renewal = info
        }
        return message
    }
}

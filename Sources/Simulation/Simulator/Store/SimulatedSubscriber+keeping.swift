extension SimulatedSubscriber {
    /// The customer without the records of sold items, for callers that store those one by one: a life is long, and one
    /// moment changes little of it.
    public var withoutItems: SimulatedSubscriber {
        var copy = self
        for index in copy.lines.indices { copy.lines[index].transactions = [] }
        copy.purchases = []
        return copy
    }

    /// The items sold or signed again since the state `earlier`, in the order of ``allItems``; all items if that is
    /// nil.
    public func items(changedSince earlier: SimulatedSubscriber?) -> [SoldItem] {
        guard let earlier else { return allItems }
        var changed: [SoldItem] = []
        for line in allLines {
            let before = line.index < earlier.lines.count ? earlier.lines[line.index].transactions : []
            for (index, record) in lines[line.index].transactions.enumerated()
            where index >= before.count || before[index] != record {
                changed.append(.period(line, index))
            }
        }
        for (index, record) in purchases.enumerated()
        where index >= earlier.purchases.count || earlier.purchases[index] != record {
            changed.append(.single(index))
        }
        return changed
    }

    /// Puts the record of something sold in its place, or after all others of its kind.
    ///
    /// - Returns: false, with nothing changed, where it has no place: its subscription or a record before it is not there.
    @discardableResult
    public mutating func putBack(_ record: TransactionRecord, as item: SoldItem) -> Bool {
        switch item {
        case .period(let line, let index):
            guard lines.indices.contains(line.index) else { return false }
            return Self.put(record, at: index, &lines[line.index].transactions)
        case .single(let index): return Self.put(record, at: index, &purchases)
        }
    }

    private static func put(_ record: TransactionRecord, at index: Int, _ records: inout [TransactionRecord]) -> Bool {
        guard (0...records.count).contains(index) else { return false }
        if index == records.count { records.append(record) } else { records[index] = record }
        return true
    }

    /// What this customer takes over of the items of his former self, when the rest of him was kept apart.
    ///
    /// - Returns: false where the former self has a subscription that this one has not.
    public mutating func takeItems(of former: SimulatedSubscriber) -> Bool {
        guard former.lines.count <= lines.count else { return false }
        for (index, line) in former.lines.enumerated() { lines[index].transactions = line.transactions }
        purchases = former.purchases
        return true
    }
}

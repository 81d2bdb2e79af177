/// A dictionary that knows which of its keys were written since somebody last asked.
struct Tracked<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private(set) var all: [Key: Value] = [:]
    private var written: Set<Key> = []
    /// How often something was written.
    private(set) var version = 0

    var count: Int { all.count }
    var keys: Dictionary<Key, Value>.Keys { all.keys }
    var values: Dictionary<Key, Value>.Values { all.values }

    subscript(key: Key) -> Value? {
        get { all[key] }
        set {
            all[key] = newValue
            written.insert(key)
            version += 1
        }
    }

    /// What stands under these keys.
    func entries(_ keys: Set<Key>) -> [Key: Value] {
        Dictionary(uniqueKeysWithValues: keys.compactMap { key in all[key].map { (key, $0) } })
    }

    /// The keys written since the last time.
    mutating func takeWritten() -> Set<Key> {
        // Room for a busy moment is not kept.
        defer { written = [] }
        return written
    }
}

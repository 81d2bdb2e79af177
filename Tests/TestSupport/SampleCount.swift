import Foundation

/// Whether long proofs take all of their samples, as behind `deploy/test --full`.
public let takesAllSamples = ProcessInfo.processInfo.environment["STOREHOOK_TEST_FULL"] != nil

/// How many samples a long proof takes: all of them, or a part, which is one at least.
/// - Parameters:
///   - all: how many there are.
///   - share: a part is one in so many.
public func samples(of all: Int, oneIn share: Int = 10) -> Int { takesAllSamples ? all : max(all / share, 1) }

/// Whether so much came of samples that they show something. A tenth of them varies more than all do, and has to be more than none.
/// - Parameters:
///   - count: what came of them.
///   - floor: what comes of all samples is more than this.
public func isEnough(_ count: Int, of floor: Int) -> Bool { count > (takesAllSamples ? floor : 0) }

/// Whether so much came of a small part of the samples that it shows something.
///
/// It has to be more than none only if the floor lets ten or more be expected of the part: none of them comes in less than one of ten thousand
/// runs (e⁻¹⁰). With fewer expected, none would come by chance now and then.
/// - Parameters:
///   - count: what came of them.
///   - floor: what comes of all samples is more than this.
///   - share: the part is one in so many.
public func isEnough(_ count: Int, of floor: Int, oneIn share: Int) -> Bool {
    isEnough(count, of: floor) || !takesAllSamples && floor < 10 * share
}

/// The seeds of the random lives that a long proof goes through: all of them, or a part in a row, another one in each run.
/// - Parameters:
///   - all: they begin at 0 and end before it.
///   - share: a part is one in so many.
public func sampledSeeds(of all: UInt64, oneIn share: UInt64 = 10) -> [UInt64] {
    precondition(all >= share, "a part of fewer may be none")
    guard !takesAllSamples else { return Array(0..<all) }
    let count = all / share
    let first = SeededGenerator().seed % share * count
    return Array(first..<first + count)
}

/// What a long proof goes through of a list: all of it, or a part, which is one at least, chosen by chance.
/// - Parameter share: a part is one in so many.
public func sampled<Element>(
    _ all: [Element], oneIn share: Int = 10, using generator: inout some RandomNumberGenerator
) -> [Element] {
    takesAllSamples ? all : Array(all.shuffled(using: &generator).prefix(samples(of: all.count, oneIn: share)))
}

/// The same for a test's arguments, which differ in degree: all of them, or one of a few, chosen by the run's seed.
public func sampled<Element>(_ all: [Element]) -> [Element] {
    var generator = SeededGenerator()
    return sampled(all, using: &generator)
}

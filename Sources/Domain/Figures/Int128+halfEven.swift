extension Int128 {
    /// The quotient, rounded to the nearest whole number and from the middle to the even one, so that a number and its negative
    /// are rounded alike.
    /// - Parameter divisor: above 0.
    func dividedHalfEven(by divisor: Int128) -> Int128 {
        let (quotient, rest) = quotientAndRemainder(dividingBy: divisor)
        let twice = rest.magnitude * 2
        let isUp = twice > divisor.magnitude || twice == divisor.magnitude && !quotient.isMultiple(of: 2)
        return isUp ? quotient + signum() : quotient
    }
}
